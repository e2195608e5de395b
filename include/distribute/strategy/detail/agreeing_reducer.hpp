#pragma once
/// Checks that all workers train the same variables, and reports missing gradients.

#include <distribute/base/config.hpp>
#include <distribute/strategy/detail/local_replica_context.hpp>
#include <distribute/strategy/detail/worker_state.hpp>

#include <memory>
#include <span>
#include <string>
#include <utility>

namespace distribute::strategy_internal {

/// Wraps the reducer of a replica of several workers. At the first update, all replicas compare the
/// variables that they train. An error of any update names the gradients that this worker's
/// replicas did not have.
class AgreeingReducer final : public replica_internal::GradientReducer {
 public:
  AgreeingReducer(LocalReplicaContext& context, WorkerState& state,
                  std::unique_ptr<replica_internal::GradientReducer> next)
      : GradientReducer(next->wishes()), context_(context), state_(state), next_(std::move(next)) {}

  void ready(const Variable& variable, const Tensor& gradient) override {
    next_->ready(variable, gradient);
  }
  void missing(const std::string& names) override { next_->missing(names); }
  DISTRIBUTE_INLINE void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                                const UpdateKernel& kernel) override;

 private:
  void agree(std::span<const VariableUpdate> updates);

  LocalReplicaContext& context_;
  WorkerState& state_;
  const std::unique_ptr<replica_internal::GradientReducer> next_;
};

}  // namespace distribute::strategy_internal
