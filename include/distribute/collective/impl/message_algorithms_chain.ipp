#pragma once
#include <distribute/collective/detail/combine.hpp>
#include <distribute/collective/detail/message_algorithms.hpp>

#include <algorithm>

namespace distribute::collective {

DISTRIBUTE_INLINE ChainReduction::ChainReduction(Messages& messages, Scratch& scratch,
                                                 const Operation& operation, int64_t segment_bytes)
    : messages_(messages),
      operation_(operation),
      rank_(messages.rank()),
      last_(messages.size() - 1),
      root_(operation.kind == Collective::Reduce ? operation.peer : -1),
      width_(size_of(operation.dtype)),
      sum_width_(size_of(accumulator_of(operation.dtype))),
      segment_(std::max<int64_t>(1, segment_bytes / width_)),
      segments_(std::max<int64_t>(1, (operation.count + segment_ - 1) / segment_)),
      slot_bytes_(segment_ * sum_width_) {
  slots_ = scratch.take(kWindow * (slot_bytes_ + segment_ * width_));
  results_ = slots_ + kWindow * slot_bytes_;
  sums_left_ = segments_;
  results_left_ = wants_results() && rank_ != last_ ? segments_ : 0;
}

DISTRIBUTE_INLINE bool ChainReduction::wants_results() const { return root_ < 0 || root_ == rank_; }

DISTRIBUTE_INLINE int64_t ChainReduction::count_of(int64_t segment) const {
  return std::min(segment_, operation_.count - segment * segment_);
}

/// Returns memory for the result: a rank that only passes it on has memory for a few segments.
DISTRIBUTE_INLINE std::byte* ChainReduction::output(int64_t segment) {
  if (wants_results())
    return static_cast<std::byte*>(operation_.output) + segment * segment_ * width_;
  return results_ + segment % kWindow * segment_ * width_;
}

/// Assigns a slot of this rank to `segment`.
DISTRIBUTE_INLINE void ChainReduction::enter(int64_t segment) {
  if (segment >= segments_) return;
  if (rank_ == 0)
    add(segment);
  else
    messages_.receive(rank_ - 1, tag_of(kSum, segment),
                      {slot(segment), size_t(count_of(segment) * sum_width_)});
}

/// Adds this rank's elements and sends the sum to the next.
DISTRIBUTE_INLINE void ChainReduction::add(int64_t segment) {
  const int64_t count = count_of(segment);
  const void* mine = bytes_at(operation_.input, segment * segment_ * width_, 0).data();
  accumulate(operation_.op, operation_.dtype, rank_ == 0, mine, slot(segment), count);
  if (rank_ == last_) return end(segment);
  messages_.send(rank_ + 1, tag_of(kSum, segment), {slot(segment), size_t(count * sum_width_)});
}

/// Completes a segment on the last rank.
DISTRIBUTE_INLINE void ChainReduction::end(int64_t segment) {
  const int64_t count = count_of(segment);
  finish(operation_.op, operation_.dtype, slot(segment), output(segment), count, messages_.size());
  const int to = root_ < 0 ? rank_ - 1 : root_;
  if (to != rank_)
    return messages_.send(to, tag_of(kResult, segment), {output(segment), size_t(count * width_)},
                          true);
  --sums_left_;
  enter(segment + kWindow);
}

DISTRIBUTE_INLINE void ChainReduction::expect_results() {
  if (results_left_ == 0) return;
  const int from = root_ < 0 ? rank_ + 1 : last_;
  for (int64_t s = 0; s < segments_; ++s)
    messages_.receive(from, tag_of(kResult, s), {output(s), size_t(count_of(s) * width_)});
}

DISTRIBUTE_INLINE void ChainReduction::pass_down(int64_t segment) {
  --results_left_;
  if (root_ < 0 && rank_ > 0)
    messages_.send(rank_ - 1, tag_of(kResult, segment),
                   {output(segment), size_t(count_of(segment) * width_)}, true);
}

DISTRIBUTE_INLINE void ChainReduction::handle(const Messages::Event& event) {
  const int64_t segment = number_of(event.tag);
  const bool result = flow_of(event.tag) == kResult;
  if (!event.sent) return result ? pass_down(segment) : add(segment);
  if (result && rank_ != last_) return;
  --sums_left_;  // its slot is free
  enter(segment + kWindow);
}

DISTRIBUTE_INLINE void ChainReduction::run() {
  expect_results();
  for (int64_t s = 0; s < kWindow; ++s) enter(s);
  while (sums_left_ > 0 || results_left_ > 0) handle(messages_.next());
  messages_.finish();
}

}  // namespace distribute::collective
