#pragma once
/// Reduction for many ranks: a running sum goes up through them in rank order.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/message_tools.hpp>
#include <distribute/collective/detail/messages.hpp>
#include <distribute/collective/operation.hpp>

#include <cstddef>
#include <cstdint>

namespace distribute::collective {

/// Segment by segment, rank 0's numbers go to rank 1, which adds its own and sends the sum to rank
/// 2, and so on; the last rank has the result, which comes back down the same way, while later
/// segments go up. Each rank talks to two others, and the sum is in rank order, unlike a ring's.
/// Units   bytes on the wire per rank: 2 * size; 16-bit floats go up as float32.
class ChainReduction {
 public:
  /// `operation` is AllReduce, or Reduce: then the last rank sends to the root alone.
  ChainReduction(Messages& messages, Scratch& scratch, const Operation& operation,
                 int64_t segment_bytes);
  void run();

 private:
  static constexpr uint32_t kSum = 0, kResult = 1;
  static constexpr int64_t kWindow = 8;  // segments in this rank's memory

  bool wants_results() const;
  void enter(int64_t segment);
  void add(int64_t segment);
  void end(int64_t segment);
  void expect_results();
  void pass_down(int64_t segment);
  void handle(const Messages::Event& event);
  int64_t count_of(int64_t segment) const;
  std::byte* slot(int64_t segment) { return slots_ + segment % kWindow * slot_bytes_; }
  std::byte* output(int64_t segment);

  Messages& messages_;
  const Operation& operation_;
  const int rank_, last_, root_;  // root_ < 0: all ranks get the result
  const int64_t width_, sum_width_, segment_, segments_, slot_bytes_;
  std::byte *slots_ = nullptr, *results_ = nullptr;
  int64_t sums_left_ = 0, results_left_ = 0;  // segments this rank has work with
};

}  // namespace distribute::collective
