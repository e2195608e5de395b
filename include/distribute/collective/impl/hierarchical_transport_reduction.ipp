#pragma once
#include <distribute/collective/detail/combine.hpp>
#include <distribute/collective/detail/hierarchical_transport.hpp>

#include <algorithm>
#include <set>

namespace distribute::collective {

/// Returns a number of segments that keeps a chain of hosts busy in both directions, and all ranks
/// of a host.
DISTRIBUTE_INLINE int64_t segments_ahead(const HostLayout& layout) {
  return std::max({8, 2 * layout.hosts() + 4, 2 * layout.most_members()});
}

DISTRIBUTE_INLINE HierarchicalReduction::HierarchicalReduction(Messages& messages, Scratch& scratch,
                                                               const HostLayout& layout,
                                                               const Window* window,
                                                               const Operation& operation,
                                                               int64_t segment_bytes)
    : messages_(messages),
      layout_(layout),
      window_(window),
      operation_(operation),
      rank_(messages.rank()),
      host_(layout.host_of(rank_)),
      last_host_(layout.hosts() - 1),
      width_(size_of(operation.dtype)),
      sum_width_(size_of(accumulator_of(operation.dtype))),
      ahead_(segments_ahead(layout)),
      segment_(std::max<int64_t>(1, std::min(segment_bytes, kMostBytes / 2 / ahead_) / width_)),
      segments_(std::max<int64_t>(1, (operation.count + segment_ - 1) / segment_)),
      done_(size_t(segments_), false) {
  const int members = ranks_on(host_);
  const size_t most_own = size_t(segments_ / members + 1);
  missing_.assign(most_own, members + (host_ > 0));
  unsettled_.assign(most_own, 1 + (host_ > 0) + (host_ < last_host_));
  sums_ = scratch.take((ahead_ / members + 1) * segment_ * sum_width_);
}

DISTRIBUTE_INLINE int HierarchicalReduction::carrier(int64_t segment, int host) const {
  return layout_.members(host)[size_t(segment % ranks_on(host))];
}

DISTRIBUTE_INLINE int64_t HierarchicalReduction::count_of(int64_t segment) const {
  return std::min(segment_, operation_.count - segment * segment_);
}

DISTRIBUTE_INLINE const std::byte* HierarchicalReduction::input(int64_t segment) const {
  return static_cast<const std::byte*>(operation_.input) + segment * segment_ * width_;
}

DISTRIBUTE_INLINE std::byte* HierarchicalReduction::output(int64_t segment) const {
  return static_cast<std::byte*>(operation_.output) + segment * segment_ * width_;
}

DISTRIBUTE_INLINE std::byte* HierarchicalReduction::put_place(int rank, int64_t segment) const {
  return window_->arena(layout_.local_index(rank)).data() + segment % ahead_ * segment_ * width_;
}

DISTRIBUTE_INLINE std::byte* HierarchicalReduction::result_place(int rank, int64_t segment) const {
  if (ranks_on(host_) == 1) return output(segment);
  return put_place(rank, segment) + kMostBytes / 2;
}

DISTRIBUTE_INLINE std::byte* HierarchicalReduction::sum_place(int64_t segment) const {
  return sums_ + own(segment) % (ahead_ / ranks_on(host_) + 1) * segment_ * sum_width_;
}

/// All whom this rank waits for in this operation, and the first ranks of the hosts beside.
DISTRIBUTE_INLINE std::set<int> HierarchicalReduction::neighbours() const {
  const std::vector<int>& members = layout_.members(host_);
  std::set<int> result(members.begin(), members.end());
  for (int host : {host_ - 1, host_ + 1}) {
    if (host < 0 || host > last_host_) continue;
    if (rank_ == members[0]) result.insert(layout_.members(host)[0]);
    const int64_t pairs = std::min<int64_t>(segments_, ranks_on(host) * ranks_on(host_));
    for (int64_t s = 0; s < pairs; ++s)
      if (carries(s)) result.insert(carrier(s, host));
  }
  result.erase(rank_);
  return result;
}

/// A neighbour that runs another operation gets an error; one that does not come can be named.
DISTRIBUTE_INLINE void HierarchicalReduction::greet() {
  for (int other : neighbours()) {
    messages_.receive(other, tag_of(kHello, 0), {});
    messages_.send(other, tag_of(kHello, 0), {}, true);
  }
}

/// Posts the receives of messages without bytes at the start, so that they never block later
/// messages.
DISTRIBUTE_INLINE void HierarchicalReduction::expect() {
  for (int64_t s = 0; s < segments_; ++s) {
    if (!carries(s)) messages_.receive(carrier(s, host_), tag_of(kShown, s), {});
    for (int other : layout_.members(host_))
      if (carries(s) && other != rank_) messages_.receive(other, tag_of(kPut, s), {});
  }
}

/// A segment uses the places of the one `ahead_` before it, which all below `low_` have left. In
/// order: a sum that came before its place is free would hold up the ones behind it.
DISTRIBUTE_INLINE void HierarchicalReduction::advance() {
  while (low_ < segments_ && done_[size_t(low_)]) ++low_;
  while (entered_ < segments_ && entered_ < low_ + ahead_) enter(entered_++);
}

DISTRIBUTE_INLINE void HierarchicalReduction::enter(int64_t segment) {
  if (!carries(segment)) return put(segment);
  if (host_ > 0)
    messages_.receive(carrier(segment, host_ - 1), tag_of(kSum, segment),
                      {sum_place(segment), size_t(count_of(segment) * sum_width_)});
  arrive(segment);
}

DISTRIBUTE_INLINE void HierarchicalReduction::put(int64_t segment) {
  copy_bytes(put_place(rank_, segment), input(segment), bytes_of(segment));
  messages_.send(carrier(segment, host_), tag_of(kPut, segment), {}, true);
}

/// Counts a condition for which the carrier waits: its turn, another rank's elements, or the sum.
DISTRIBUTE_INLINE void HierarchicalReduction::arrive(int64_t segment) {
  if (--missing_[size_t(own(segment))] > 0) return;
  add(segment);
  host_ == last_host_ ? end(segment) : pass_up(segment);
}

DISTRIBUTE_INLINE void HierarchicalReduction::add(int64_t segment) {
  constexpr int64_t kChunk = 8192;  // all ranks' turn while the sum is in the cache
  const int64_t count = count_of(segment);
  for (int64_t at = 0; at < count; at += kChunk) {
    bool first = host_ == 0;
    for (int member : layout_.members(host_)) {
      const std::byte* numbers = member == rank_ ? input(segment) : put_place(member, segment);
      accumulate(operation_.op, operation_.dtype, first, numbers + at * width_,
                 sum_place(segment) + at * sum_width_, std::min(kChunk, count - at));
      first = false;
    }
  }
}

/// Passes the sum on when all have put their elements; they have then also read the earlier result
/// in its memory.
DISTRIBUTE_INLINE void HierarchicalReduction::pass_up(int64_t segment) {
  const int next = carrier(segment, host_ + 1);
  messages_.receive(next, tag_of(kResult, segment),
                    {result_place(rank_, segment), size_t(bytes_of(segment))});
  messages_.send(next, tag_of(kSum, segment),
                 {sum_place(segment), size_t(count_of(segment) * sum_width_)});
}

/// Completes a segment on the last host.
DISTRIBUTE_INLINE void HierarchicalReduction::end(int64_t segment) {
  finish(operation_.op, operation_.dtype, sum_place(segment), result_place(rank_, segment),
         count_of(segment), layout_.ranks());
  pass_down(segment);
}

DISTRIBUTE_INLINE void HierarchicalReduction::pass_down(int64_t segment) {
  const std::byte* result = result_place(rank_, segment);
  if (host_ > 0)
    messages_.send(carrier(segment, host_ - 1), tag_of(kResult, segment),
                   {result, size_t(bytes_of(segment))}, true);
  for (int other : layout_.members(host_))
    if (other != rank_) messages_.send(other, tag_of(kShown, segment), {}, true);
  copy_bytes(output(segment), result, bytes_of(segment));
  settle(segment);
}

/// Takes the result of a segment that another rank carries.
DISTRIBUTE_INLINE void HierarchicalReduction::take(int64_t segment) {
  copy_bytes(output(segment), result_place(carrier(segment, host_), segment), bytes_of(segment));
  done_[size_t(segment)] = true;
}

/// The result is out; a sum or a result has left its place.
DISTRIBUTE_INLINE void HierarchicalReduction::settle(int64_t segment) {
  if (--unsettled_[size_t(own(segment))] == 0) done_[size_t(segment)] = true;
}

DISTRIBUTE_INLINE void HierarchicalReduction::handle(const Messages::Event& event) {
  const int64_t segment = number_of(event.tag);
  const uint32_t flow = flow_of(event.tag);
  if (event.sent) {
    if (flow == kSum || flow == kResult) settle(segment);
    return;
  }
  if (flow == kPut || flow == kSum) arrive(segment);
  if (flow == kResult) pass_down(segment);
  if (flow == kShown) take(segment);
}

DISTRIBUTE_INLINE void HierarchicalReduction::run() {
  greet();
  expect();
  for (advance(); low_ < segments_; advance()) handle(messages_.next());
  messages_.finish();
}

}  // namespace distribute::collective
