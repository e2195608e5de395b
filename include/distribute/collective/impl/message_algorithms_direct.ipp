#pragma once
#include <distribute/collective/detail/combine.hpp>
#include <distribute/collective/detail/message_algorithms.hpp>

#include <algorithm>

namespace distribute::collective {

DISTRIBUTE_INLINE Parts parts_of(const Operation& operation, int ranks, int64_t segment_bytes) {
  const int64_t segment = std::max<int64_t>(1, segment_bytes / size_of(operation.dtype));
  if (operation.kind == Collective::ReduceScatter) return Parts(operation.counts, segment);
  return Parts::equal(operation.count, ranks, segment);
}

DISTRIBUTE_INLINE DirectReduction::DirectReduction(Messages& messages, Scratch& scratch,
                                                   const Operation& operation,
                                                   int64_t segment_bytes)
    : messages_(messages),
      operation_(operation),
      rank_(messages.rank()),
      ranks_(messages.size()),
      width_(size_of(operation.dtype)),
      parts_(parts_of(operation, ranks_, segment_bytes)),
      missing_(size_t(parts_.segments(rank_)), ranks_ - 1) {
  const int64_t slots = kWindow * ranks_ * parts_.segment() * width_;
  const bool own = operation.kind == Collective::Reduce && rank_ != operation.peer;
  slots_ = scratch.take(slots + (own ? parts_.count(rank_) * width_ : 0));
  if (own)
    result_ = slots_ + slots;
  else if (operation.kind == Collective::ReduceScatter)
    result_ = static_cast<std::byte*>(operation.output);
  else
    result_ = static_cast<std::byte*>(operation.output) + parts_.begin(rank_) * width_;
}

DISTRIBUTE_INLINE bool DirectReduction::wants_results(int rank) const {
  return operation_.kind == Collective::AllReduce ||
         (operation_.kind == Collective::Reduce && rank == operation_.peer);
}

DISTRIBUTE_INLINE std::byte* DirectReduction::slot(int64_t segment, int from) {
  return slots_ + (segment % kWindow * ranks_ + from) * parts_.segment() * width_;
}

DISTRIBUTE_INLINE std::byte* DirectReduction::result_of(int64_t segment) {
  return result_ + segment * parts_.segment() * width_;
}

DISTRIBUTE_INLINE void DirectReduction::expect_pieces(int64_t segment) {
  if (segment >= parts_.segments(rank_)) return;
  const int64_t bytes = parts_.segment_count(rank_, segment) * width_;
  for (int r = 0; r < ranks_; ++r)
    if (r != rank_)
      messages_.receive(r, tag_of(kPiece, segment), {slot(segment, r), size_t(bytes)});
}

/// The memory of the results is free when they come, as the owner has received this rank's elements
/// before.
DISTRIBUTE_INLINE void DirectReduction::expect_results() {
  if (!wants_results(rank_)) return;
  for (int r = 0; r < ranks_; ++r)
    for (int64_t s = 0; r != rank_ && s < parts_.segments(r); ++s)
      messages_.receive(r, tag_of(kResult, s),
                        bytes_at(operation_.output, parts_.segment_begin(r, s) * width_,
                                 parts_.segment_count(r, s) * width_));
}

DISTRIBUTE_INLINE void DirectReduction::send_pieces() {
  for (int step = 1; step < ranks_; ++step) {
    const int to = (rank_ + step) % ranks_;
    for (int64_t s = 0; s < parts_.segments(to); ++s)
      messages_.send(to, tag_of(kPiece, s),
                     bytes_at(operation_.input, parts_.segment_begin(to, s) * width_,
                              parts_.segment_count(to, s) * width_));
  }
}

DISTRIBUTE_INLINE void DirectReduction::sum(int64_t segment) {
  std::vector<const void*> inputs;
  for (int r = 0; r < ranks_; ++r) inputs.push_back(slot(segment, r));
  inputs[size_t(rank_)] = static_cast<const std::byte*>(operation_.input) +
                          parts_.segment_begin(rank_, segment) * width_;
  combine(operation_.op, operation_.dtype, inputs, result_of(segment),
          parts_.segment_count(rank_, segment));
}

DISTRIBUTE_INLINE void DirectReduction::send_result(int64_t segment) {
  const int64_t bytes = parts_.segment_count(rank_, segment) * width_;
  for (int step = 1; step < ranks_; ++step) {
    const int to = (rank_ + step) % ranks_;
    if (wants_results(to))
      messages_.send(to, tag_of(kResult, segment), bytes_at(result_of(segment), 0, bytes), true);
  }
}

DISTRIBUTE_INLINE void DirectReduction::run() {
  for (int64_t s = 0; s < kWindow; ++s) expect_pieces(s);
  expect_results();
  send_pieces();
  const int64_t segments = parts_.segments(rank_);
  for (int64_t summed = 0; summed < segments;) {
    const Messages::Event event = messages_.next();
    if (event.sent || flow_of(event.tag) != kPiece) continue;
    --missing_[size_t(number_of(event.tag))];
    for (; summed < segments && missing_[size_t(summed)] == 0; ++summed) {
      sum(summed);
      send_result(summed);
      expect_pieces(summed + kWindow);
    }
  }
  messages_.finish();
}

}  // namespace distribute::collective
