#pragma once
/// Every collective, written in messages.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/cost_model.hpp>
#include <distribute/collective/detail/message_tools.hpp>
#include <distribute/collective/detail/messages.hpp>
#include <distribute/collective/operation.hpp>

#include <cstdint>

namespace distribute::collective {

/// Chooses the algorithm by bytes and ranks alone; sums are in rank order in all of them.
/// One thread.
class MessageAlgorithms {
 public:
  /// `messages` must outlive this; costs and segments must be the same on all ranks.
  MessageAlgorithms(Messages& messages, const LinkCosts& costs, int64_t segment_bytes)
      : messages_(messages), costs_(costs), segment_bytes_(segment_bytes) {}

  /// Takes part in one collective, to its end. Throws  as Transport::execute().
  void run(const Operation& operation);

 private:
  void all_reduce(const Operation& operation);
  void reduce(const Operation& operation);
  void reduce_scatter(const Operation& operation);
  void all_gather(const Operation& operation);
  void gather(const Operation& operation);
  void broadcast(const Operation& operation);
  void broadcast_tree(const Operation& operation);
  void broadcast_chain(const Operation& operation);
  void all_to_all(const Operation& operation);
  void barrier();

  void reduce_by_exchange(const Operation& operation);
  void reduce_by_bruck(const Operation& operation);
  /// Every rank's bytes to every rank; where rank r's are then.
  std::vector<const std::byte*> bruck(std::span<const std::byte> mine,
                                      const std::vector<int64_t>& bytes);

  Messages& messages_;
  const LinkCosts costs_;
  const int64_t segment_bytes_;
  Scratch scratch_;
};

}  // namespace distribute::collective
