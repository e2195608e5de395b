#pragma once
/// Gradients of several batches summed up for one update of the weights.

#include <distribute/autograd/trackable.hpp>
#include <distribute/base/config.hpp>

#include <cstdint>
#include <vector>

namespace distribute::train {

/// Each replica sums up its own gradients; replicas meet only at the update. Saved in a checkpoint
/// as the sums over all replicas. Made in the strategy's scope, outside of replicas.
class GradientAccumulator : public Trackable {
 public:
  GradientAccumulator(int64_t steps, const std::vector<Variable>& variables);

  /// Before each step, outside of replicas.
  void begin_step();
  /// In a replica: adds this step's gradients.
  /// Throws  InvalidArgumentError when their number is not the variables'.
  void add(const std::vector<Tensor>& gradients) const;
  /// Whether this step is the last before an update.
  bool is_due() const { return step_ == steps_; }
  /// In a replica: the means over the steps; begins anew. None where `gradients` are none.
  std::vector<Tensor> take(const std::vector<Tensor>& gradients) const;

  std::vector<NamedVariable> own_variables() const override;

 private:
  int64_t steps_, step_ = 0;  // step_: number of this step, from 1
  Variable done_;             // step_, for checkpoints
  std::vector<Variable> sums_;
};

}  // namespace distribute::train

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/train/impl/gradient_accumulator.ipp>
#endif
