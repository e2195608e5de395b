#pragma once
#include <distribute/replica/detail/gradient_reducer.hpp>

namespace distribute::replica_internal {

DISTRIBUTE_INLINE int64_t GradientReducer::update_and_count(std::span<const VariableUpdate> updates,
                                                            bool gradients_are_reduced,
                                                            const UpdateKernel& kernel,
                                                            const Variable& counter) {
  update(updates, gradients_are_reduced, kernel);
  get_replica_context()->merge([&] { counter.assign_add(Tensor(int64_t{1})); });
  return counter.value().item<int64_t>();
}

}  // namespace distribute::replica_internal
