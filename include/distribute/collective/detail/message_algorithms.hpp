#pragma once
/// All collectives, implemented with messages.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/cost_model.hpp>
#include <distribute/collective/detail/message_tools.hpp>
#include <distribute/collective/detail/messages.hpp>
#include <distribute/collective/detail/tree_plan.hpp>
#include <distribute/collective/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace distribute::collective {

/// Every rank sends each part to its owner. The owner sums a segment as soon as all pieces of it
/// have come and, if other ranks need the result, sends it while it is in the cache, before pieces
/// that still wait. A few segments are in progress at once.
/// Units   bytes on the wire per rank: 2 (n-1)/n * size for AllReduce, half for ReduceScatter.
class DirectReduction {
 public:
  /// `operation` is AllReduce, Reduce or ReduceScatter.
  DirectReduction(Messages& messages, Scratch& scratch, const Operation& operation,
                  int64_t segment_bytes);
  void run();

 private:
  static constexpr uint32_t kPiece = 0, kResult = 1;
  static constexpr int64_t kWindow = 8;  // segments whose pieces may be received

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

/// Chooses the algorithm by bytes and ranks alone; all of them sum in the order of
/// sum_order.hpp. One thread.
class MessageAlgorithms {
 public:
  /// `messages` must outlive this; costs and segments must be the same on all ranks.
  MessageAlgorithms(Messages& messages, const LinkCosts& costs, int64_t segment_bytes)
      : messages_(messages),
        costs_(costs),
        segment_bytes_(segment_bytes),
        plan_(TreePlan::of_ranks(messages.size(), messages.rank())) {}

  /// Takes part in one collective, to its end. Throws  as Transport::execute().
  void run(const Operation& operation);

 private:
  void all_reduce(const Operation& operation);
  void reduce(const Operation& operation);
  void reduce_scatter(const Operation& operation);
  void all_gather(const Operation& operation);
  void all_gather_small(const Operation& operation);
  void gather(const Operation& operation);
  void broadcast(const Operation& operation);
  void broadcast_tree(const Operation& operation);
  void broadcast_pieces(const Operation& operation, int children);
  void all_to_all(const Operation& operation);
  void barrier();

  void reduce_by_exchange(const Operation& operation);
  void reduce_by_tree(const Operation& operation);
  /// Sends every rank's bytes to every rank; returns the addresses of rank r's bytes.
  std::vector<const std::byte*> bruck(std::span<const std::byte> mine,
                                      const std::vector<int64_t>& bytes);

  Messages& messages_;
  const LinkCosts costs_;
  const int64_t segment_bytes_;
  const TreePlan plan_;
  Scratch scratch_;
};

}  // namespace distribute::collective
