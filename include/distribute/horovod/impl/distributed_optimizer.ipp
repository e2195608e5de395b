#pragma once
#include <distribute/base/error.hpp>
#include <distribute/horovod/distributed_optimizer.hpp>
#include <distribute/ops/math.hpp>

#include <utility>

namespace distribute::hvd {

DISTRIBUTE_INLINE GradientOptions gradient_options(const DistributedOptimizerOptions& o) {
  return {o.op, o.compression, o.gradient_predivide_factor, o.sparse_as_dense, o.process_set};
}

DISTRIBUTE_INLINE DistributedOptimizer::DistributedOptimizer(
    optim::Optimizer& optimizer, const DistributedOptimizerOptions& options)
    : inner_(optimizer),
      options_(options),
      reducer_("DistributedOptimizer." + optimizer.name(), gradient_options(options), true) {
  if (options.backward_passes_per_step < 1)
    throw InvalidArgumentError(str_cat("backward_passes_per_step must be at least 1, not ",
                                       options.backward_passes_per_step));
  if (inner_.clips_per_replica())
    throw InvalidArgumentError(
        "DistributedOptimizer reduces gradients before they are clipped; make the inner optimizer "
        "without clip_per_replica");
}

/// True while gradients are only collected. After the last pass sums_ holds all of them.
DISTRIBUTE_INLINE bool DistributedOptimizer::adds_up(const std::vector<Tensor>& gradients) {
  if (sums_.empty()) sums_.resize(gradients.size());
  for (size_t i = 0; i < gradients.size() && i < sums_.size(); ++i)
    if (gradients[i]) sums_[i] = sums_[i] ? add(sums_[i], gradients[i]) : gradients[i];
  if (++passes_ < options_.backward_passes_per_step) return true;
  if (options_.average_aggregated_gradients)
    for (Tensor& sum : sums_)
      if (sum) sum = multiply(sum, Tensor(1.0f / float(passes_)));
  passes_ = 0;
  return false;
}

DISTRIBUTE_INLINE int64_t DistributedOptimizer::apply_gradients(
    const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) {
  if (options_.backward_passes_per_step == 1)
    return inner_.apply_gradients(reducer_.reduce(gradients, variables), variables,
                                  {.skip_gradients_aggregation = true});
  if (adds_up(gradients)) return inner_.iterations();
  return inner_.apply_gradients(reducer_.reduce(std::exchange(sums_, {}), variables), variables,
                                {.skip_gradients_aggregation = true});
}

DISTRIBUTE_INLINE int64_t DistributedOptimizer::minimize(const Tensor& loss,
                                                         const std::vector<Variable>& variables,
                                                         GradientTape& tape) {
  reducer_.begin_step();
  GradientTape::Call call;
  if (options_.backward_passes_per_step == 1)
    call.on_ready = [&](size_t i, const Tensor& gradient) {
      reducer_.ready(i, gradient, variables[i]);
    };
  return apply_gradients(tape.gradient({inner_.scale_loss(loss)}, variables, call), variables);
}

}  // namespace distribute::hvd
