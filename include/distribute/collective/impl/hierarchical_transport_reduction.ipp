#pragma once
#include <distribute/collective/detail/combine.hpp>
#include <distribute/collective/detail/hierarchical_transport.hpp>

#include <algorithm>

namespace distribute::collective {

DISTRIBUTE_INLINE std::vector<int> hosts_by_rank(const HostLayout& layout) {
  std::vector<int> hosts;
  for (int r = 0; r < layout.ranks(); ++r) hosts.push_back(layout.host_of(r));
  return hosts;
}

DISTRIBUTE_INLINE HostPlans::HostPlans(const HostLayout& layout, int host)
    : down(TreePlan::of_ranks(layout.hosts(), host)),
      up(hosts_by_rank(layout), host, down.root_order()) {}

/// Returns a number of segments that keeps the ranks of a host and the network busy.
DISTRIBUTE_INLINE int64_t segments_ahead(const HostLayout& layout) {
  return std::max(8, 2 * layout.most_members());
}

/// Returns the bytes of a segment: every rank carries a few.
DISTRIBUTE_INLINE int64_t segment_bytes_of(int64_t bytes, int64_t ahead, int64_t section_bytes) {
  constexpr int64_t kLeast = 64 << 10;
  const int64_t most = std::min(section_bytes, HierarchicalReduction::kMostBytes / 2 / ahead);
  return std::clamp(bytes / ahead, std::min(kLeast, most), most);
}

DISTRIBUTE_INLINE HierarchicalReduction::HierarchicalReduction(
    Messages& messages, Scratch& scratch, const HostLayout& layout, const HostPlans& plans,
    const Window* window, const Operation& operation, int64_t section_bytes)
    : messages_(messages),
      layout_(layout),
      plans_(plans),
      window_(window),
      operation_(operation),
      rank_(messages.rank()),
      host_(layout.host_of(rank_)),
      width_(size_of(operation.dtype)),
      sum_width_(size_of(accumulator_of(operation.dtype))),
      ahead_(segments_ahead(layout)),
      segment_(std::max<int64_t>(
          1, segment_bytes_of(operation.count * width_, ahead_, section_bytes) / width_)),
      segments_(std::max<int64_t>(1, (operation.count + segment_ - 1) / segment_)),
      done_(size_t(segments_), false) {
  const int members = ranks_on(host_);
  missing_.assign(size_t(segments_ / members + 1), members);
  const int64_t tree = TreeSum::memory_bytes(plans.up, operation.dtype, segment_);
  memory_bytes_ = tree + int64_t(plans.up.leaves().size()) * segment_ * sum_width_ + 64;
  const int64_t slots = ahead_ / members + 1;
  memory_ = scratch.take(slots * memory_bytes_);
  for (int64_t i = 0; i < slots; ++i)
    sums_.emplace_back(messages, plans.up, plans.down, operation.op, operation.dtype,
                       TreeSum::Ways::Both);
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

DISTRIBUTE_INLINE const std::byte* HierarchicalReduction::elements_of(int rank,
                                                                      int64_t segment) const {
  return rank == rank_ ? input(segment) : put_place(rank, segment);
}

/// The sums of the host's branches lie behind the memory of the TreeSum.
DISTRIBUTE_INLINE std::byte* HierarchicalReduction::leaf_place(int64_t segment, size_t leaf) const {
  return memory_ + (slot(segment) + 1) * memory_bytes_ - int64_t(leaf + 1) * segment_ * sum_width_;
}

/// A rank of this host that runs another operation gets an error; one that does not come can be
/// named.
DISTRIBUTE_INLINE void HierarchicalReduction::greet() {
  for (int other : layout_.members(host_)) {
    if (other == rank_) continue;
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

/// A segment uses the places of the one `ahead_` before it, which all below `low_` have left.
DISTRIBUTE_INLINE void HierarchicalReduction::advance() {
  while (low_ < segments_ && done_[size_t(low_)]) ++low_;
  while (entered_ < segments_ && entered_ < low_ + ahead_) enter(entered_++);
}

/// The result may come into its place when all members have put their elements; they have then
/// also read the earlier result there.
DISTRIBUTE_INLINE void HierarchicalReduction::enter(int64_t segment) {
  if (!carries(segment)) return put(segment);
  sums_[size_t(slot(segment))].begin(
      {.number = segment,
       .count = count_of(segment),
       .ranks = layout_.ranks(),
       .memory = memory_ + slot(segment) * memory_bytes_,
       .result = result_place(rank_, segment),
       .rank_of = [this, segment](int host) { return carrier(segment, host); }});
  arrive(segment);
}

DISTRIBUTE_INLINE void HierarchicalReduction::put(int64_t segment) {
  copy_bytes(put_place(rank_, segment), input(segment), bytes_of(segment));
  messages_.send(carrier(segment, host_), tag_of(kPut, segment), {}, true);
}

/// Counts a condition for which the carrier waits: its turn, and the other ranks' elements.
DISTRIBUTE_INLINE void HierarchicalReduction::arrive(int64_t segment) {
  if (--missing_[size_t(own(segment))] == 0) add(segment);
}

/// Sums the branches of the tree that this host has whole.
DISTRIBUTE_INLINE void HierarchicalReduction::add(int64_t segment) {
  TreeSum& sum = sums_[size_t(slot(segment))];
  bool summed = false;
  for (size_t leaf = 0; leaf < plans_.up.leaves().size(); ++leaf) {
    const TreePlan::Leaf& one = plans_.up.leaves()[leaf];
    std::vector<const void*> inputs;
    for (int r = 0; r < one.ranks; ++r) inputs.push_back(elements_of(one.first + r, segment));
    const auto* elements = static_cast<const std::byte*>(inputs[0]);
    if (one.ranks > 1) {
      combine_branch(operation_.op, operation_.dtype, inputs, leaf_place(segment, leaf),
                     count_of(segment));
      elements = leaf_place(segment, leaf);
    }
    summed = sum.supply(int(leaf), elements) || summed;
  }
  if (summed) sum.descend();
}

DISTRIBUTE_INLINE void HierarchicalReduction::show_if_done(int64_t segment) {
  if (!sums_[size_t(slot(segment))].done()) return;
  for (int other : layout_.members(host_))
    if (other != rank_) messages_.send(other, tag_of(kShown, segment), {}, true);
  copy_bytes(output(segment), result_place(rank_, segment), bytes_of(segment));
  done_[size_t(segment)] = true;
}

/// Takes the result of a segment that another rank carries.
DISTRIBUTE_INLINE void HierarchicalReduction::take(int64_t segment) {
  copy_bytes(output(segment), result_place(carrier(segment, host_), segment), bytes_of(segment));
  done_[size_t(segment)] = true;
}

DISTRIBUTE_INLINE void HierarchicalReduction::handle(const Messages::Event& event) {
  if (TreeSum::owns(event)) {
    const int64_t segment = TreeSum::number_of_sum(event);
    TreeSum& sum = sums_[size_t(slot(segment))];
    if (sum.handle(event)) sum.descend();
    return show_if_done(segment);
  }
  if (event.sent) return;
  if (flow_of(event.tag) == kPut) arrive(number_of(event.tag));
  if (flow_of(event.tag) == kShown) take(number_of(event.tag));
}

DISTRIBUTE_INLINE void HierarchicalReduction::run() {
  greet();
  expect();
  for (advance(); low_ < segments_; advance()) handle(messages_.next());
  messages_.finish();
}

}  // namespace distribute::collective
