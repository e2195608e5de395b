#pragma once
/// Gradients of replicas of one process, summed by the CrossDeviceOps that the program chose.

#include <distribute/base/config.hpp>
#include <distribute/strategy/detail/local_reducer.hpp>

namespace distribute::strategy_internal {

/// The context's all_reduce is that of the ops; each replica then updates with the sums.
class CrossDeviceReducer final : public LocalReducer {
 public:
  using LocalReducer::LocalReducer;
  bool multiplies_gradients() const override { return false; }  // they are sent
  void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
              const UpdateKernel& kernel) override {
    if (gradients_are_reduced) return LocalReducer::update(updates, true, kernel);
    update_with(updates, context().all_reduce(ReduceOp::Sum, gradients_of(updates)), kernel);
  }
};

}  // namespace distribute::strategy_internal
