#pragma once
/// Sums gradients of several batches for one update of the weights.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <vector>

namespace distribute::train {

/// Sums each replica's gradients; replicas meet only at the update.
class GradientAccumulator {
 public:
  GradientAccumulator(int64_t steps, int local_replicas);

  /// Call it before each step, outside of replicas.
  void begin_step();
  /// Adds this step's gradients, except empty ones; call it in a replica.
  void add(int local_replica, const std::vector<Tensor>& gradients);
  /// Whether this step is the last before an update.
  bool is_due() const { return step_ == steps_; }
  /// Returns the means over the steps and begins anew; call it in a replica.
  std::vector<Tensor> take(int local_replica);

  /// Returns this worker's sums and their number of steps, bit by bit, for a checkpoint.
  Tensor state() const;
  void restore(const Tensor& state);

 private:
  void take_up(int local_replica, const std::vector<Tensor>& gradients);

  int64_t steps_, step_ = 0;               // step_: number of this step, from 1
  std::vector<std::vector<Tensor>> sums_;  // by local replica
  std::vector<float> restored_;            // sums whose shapes are known with the next gradients
};

}  // namespace distribute::train
