#pragma once
/// A gradient tape whose gradients are those of all ranks.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/config.hpp>
#include <distribute/horovod/gradient_reducer.hpp>

#include <vector>

namespace distribute::hvd {

/// Wraps a tape, which must outlive it. Apply its gradients with a plain optimizer:
///   GradientTape tape;
///   ... loss ...
///   hvd::DistributedGradientTape distributed(tape);
///   optimizer.apply_gradients(distributed.gradient(loss, variables), variables);
/// Source  horovod.DistributedGradientTape
class DistributedGradientTape {
 public:
  /// Throws  as GradientReducer.
  explicit DistributedGradientTape(GradientTape& tape, const GradientOptions& options = {})
      : tape_(tape), reducer_("DistributedGradientTape", options) {}

  /// d(target) / d(source), reduced over the ranks, while the tape still computes others; none
  /// when unconnected, which must be the same on all ranks.
  /// Throws  as Handle::wait() and GradientTape::gradient.
  std::vector<Tensor> gradient(const Tensor& target, const std::vector<Variable>& sources);
  Tensor gradient(const Tensor& target, const Variable& source);

 private:
  GradientTape& tape_;
  horovod_internal::GradientReducer reducer_;
};

}  // namespace distribute::hvd
