#pragma once
/// Sums gradients of the replicas of one process by the CrossDeviceOps that the program chose.

#include <distribute/base/config.hpp>
#include <distribute/strategy/detail/local_reducer.hpp>

#include <span>
#include <string>

namespace distribute::strategy_internal {

/// The context's all_reduce uses the ops; each replica then updates with the sums.
class CrossDeviceReducer final : public replica_internal::GradientReducer {
 public:
  explicit CrossDeviceReducer(LocalReplicaContext& context) : context_(context), local_(context) {}

  void missing(const std::string& names) override { local_.missing(names); }
  void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
              const UpdateKernel& kernel) override {
    if (gradients_are_reduced) return local_.update(updates, true, kernel);
    local_.update_with(updates, context_.all_reduce(ReduceOp::Sum, gradients_of(updates)), kernel);
  }

 private:
  LocalReplicaContext& context_;
  LocalReducer local_;
};

}  // namespace distribute::strategy_internal
