#pragma once
/// Transfers the values of all trained objects between workers of an elastic job.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/checkpoint.hpp>

#include <memory>
#include <string>
#include <vector>

namespace distribute::collective {
class Communicator;
}

namespace distribute::train_internal {

/// Transfers the state as a checkpoint in memory, so that a full disk, or none to write to, does
/// not keep a worker from joining. One thread, outside of replicas.
class StateExchange {
 public:
  explicit StateExchange(train::CheckpointParts parts);
  ~StateExchange();

  /// Saves the values that a step changes before its update is complete: small variables, such as
  /// moving averages, and positions. Weights and slots change together with the update.
  void keep();
  /// Restores the values saved by keep().
  void restore();

  /// Sends this worker's state from `source` to the workers that are not `current`. All workers
  /// call it. Variables that sum over replicas when they are read belong to each worker and are not
  /// sent.
  void exchange(collective::Communicator& workers, int source, const std::vector<bool>& current);

 private:
  struct Kept;
  struct Arrived;
  void find_small();
  std::string pack() const;
  void unpack(std::string bytes);
  void forget_arrived();

  const train::CheckpointParts parts_;
  std::vector<Kept> kept_;
  int searches_ = 0;
  std::unique_ptr<Arrived> arrived_;  // kept while variables that it has values for may be created
};

}  // namespace distribute::train_internal
