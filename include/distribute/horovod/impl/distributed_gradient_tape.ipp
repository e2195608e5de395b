#pragma once
#include <distribute/horovod/distributed_optimizer.hpp>

namespace distribute::hvd {

DISTRIBUTE_INLINE std::vector<Tensor> DistributedGradientTape::gradient(
    const Tensor& target, const std::vector<Variable>& sources) {
  reducer_.begin_step();
  GradientTape::Call call;
  call.on_ready = [&](size_t i, const Tensor& gradient) {
    reducer_.ready(i, gradient, sources[i]);
  };
  return reducer_.reduce(tape_.gradient({target}, sources, call), sources);
}

DISTRIBUTE_INLINE Tensor DistributedGradientTape::gradient(const Tensor& target,
                                                           const Variable& source) {
  return gradient(target, std::vector<Variable>{source})[0];
}

}  // namespace distribute::hvd
