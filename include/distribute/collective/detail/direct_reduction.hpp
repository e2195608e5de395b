#pragma once
/// Reduction in which each rank sums one part of the array, in rank order.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/message_tools.hpp>
#include <distribute/collective/detail/messages.hpp>
#include <distribute/collective/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace distribute::collective {

/// Every rank sends each part to its owner. The owner sums a segment as soon as all pieces of it
/// are there and, where others want the result, sends it while it is in the cache, before pieces
/// that still wait. A few segments are under way at once.
/// Units   bytes on the wire per rank: 2 (n-1)/n * size for AllReduce, half for ReduceScatter.
class DirectReduction {
 public:
  /// `operation` is AllReduce, Reduce or ReduceScatter.
  DirectReduction(Messages& messages, Scratch& scratch, const Operation& operation,
                  int64_t segment_bytes);
  void run();

 private:
  static constexpr uint32_t kPiece = 0, kResult = 1;
  static constexpr int64_t kWindow = 8;  // segments whose pieces may come

  void expect_pieces(int64_t segment);
  void expect_results();
  void send_pieces();
  void sum(int64_t segment);
  void send_result(int64_t segment);
  bool wants_results(int rank) const;
  std::byte* result_of(int64_t segment);
  std::byte* slot(int64_t segment, int from);

  Messages& messages_;
  const Operation& operation_;
  const int rank_, ranks_;
  const int64_t width_;  // bytes of an element
  const Parts parts_;
  std::byte* slots_ = nullptr;   // [window, ranks, segment]
  std::byte* result_ = nullptr;  // of this rank's part
  std::vector<int> missing_;     // pieces of each segment of this rank's part
};

}  // namespace distribute::collective
