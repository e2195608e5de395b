#pragma once
/// What workers of an elastic job hand each other: the values of everything that is trained.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/checkpoint.hpp>

#include <memory>
#include <string>
#include <vector>

namespace distribute::collective {
class Communicator;
}

namespace distribute::train_internal {

/// It travels as a checkpoint in memory: a full disk, or none to write to, does not keep a worker
/// from joining. One thread, outside of replicas.
class StateExchange {
 public:
  explicit StateExchange(train::CheckpointParts parts);
  ~StateExchange();

  /// Keeps what a step changes before its update is there: small variables, such as moving
  /// averages, and positions. Weights and slots change with the update and together.
  void keep();
  /// Gives back what was kept.
  void restore();

  /// Sends this worker's state from `source` to the workers that are not `current`. All call it.
  /// Variables that sum over replicas when they are read are each worker's own and stay.
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
  std::unique_ptr<Arrived> arrived_;  // as long as variables may be made later that it is for
};

}  // namespace distribute::train_internal
