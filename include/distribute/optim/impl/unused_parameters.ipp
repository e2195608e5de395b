#pragma once
#include <distribute/optim/detail/unused_parameters.hpp>

#include <utility>

namespace distribute::optim::optim_internal {

DISTRIBUTE_INLINE std::vector<Tensor> with_zeros_for_unused(std::vector<Tensor> gradients,
                                                            const std::vector<Variable>& variables,
                                                            ReplicaContext& replica) {
  std::vector<int32_t> mine;
  for (const Tensor& gradient : gradients) mine.push_back(gradient ? 1 : 0);
  const Tensor counts =
      replica.all_reduce(ReduceOp::Sum, Tensor(Shape{int64_t(mine.size())}, mine).to(Device{}));
  const auto users = counts.data<int32_t>();
  for (size_t i = 0; i < gradients.size() && i < variables.size(); ++i) {
    const Variable& variable = variables[i];
    if (gradients[i] || users[i] == 0) continue;
    const Device device = variable.value().device();
    gradients[i] = fill(variable.shape(), 0.0f, variable.dtype(), device);
  }
  return gradients;
}

}  // namespace distribute::optim::optim_internal
