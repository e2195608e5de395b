#pragma once
/// Sees that all workers train the same variables, and tells which gradients were missing and which
/// worker the others wait for.

#include <distribute/autograd/detail/gradient_placer.hpp>
#include <distribute/base/config.hpp>
#include <distribute/strategy/detail/straggler_watch.hpp>
#include <distribute/strategy/detail/worker_reducer.hpp>

#include <memory>
#include <span>
#include <string>
#include <utility>

namespace distribute::strategy_internal {

/// Stands before the reducer of a replica of several workers. At the first update, all replicas
/// compare what they train. An error of any update names the gradients that this worker's replicas
/// did not have.
class AgreeingReducer final : public replica_internal::GradientReducer {
 public:
  AgreeingReducer(LocalReplicaContext& context, WorkerState& state,
                  std::unique_ptr<replica_internal::GradientReducer> next)
      : context_(context), state_(state), next_(std::move(next)) {}

  GradientPlacer* placer() override { return next_->placer(); }
  bool multiplies_gradients() const override { return next_->multiplies_gradients(); }
  bool updates_on_host() const override { return next_->updates_on_host(); }
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
  StragglerWatch stragglers_;
};

}  // namespace distribute::strategy_internal
