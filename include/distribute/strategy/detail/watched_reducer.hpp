#pragma once
/// Finds in each step the worker for which the others wait.

#include <distribute/base/config.hpp>
#include <distribute/strategy/detail/local_replica_context.hpp>
#include <distribute/strategy/detail/straggler_watch.hpp>
#include <distribute/strategy/detail/worker_state.hpp>

#include <memory>
#include <span>
#include <string>
#include <utility>

namespace distribute::strategy_internal {

/// Wraps the reducer that sums the gradients of several workers, and measures its updates.
class WatchedReducer final : public replica_internal::GradientReducer {
 public:
  WatchedReducer(LocalReplicaContext& context, WorkerState& state,
                 std::unique_ptr<replica_internal::GradientReducer> next)
      : GradientReducer(next->wishes()),
        group_(state.group_of(context)),
        workers_(state.group),
        next_(std::move(next)) {}

  void ready(const Variable& variable, const Tensor& gradient) override {
    next_->ready(variable, gradient);
  }
  void missing(const std::string& names) override { next_->missing(names); }
  void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
              const UpdateKernel& kernel) override {
    stragglers_.begin();
    next_->update(updates, gradients_are_reduced, kernel);
    stragglers_.end(group_, workers_.num_workers, workers_.names);
  }

 private:
  collective::Communicator& group_;
  const collective::WorkerGroup& workers_;
  const std::unique_ptr<replica_internal::GradientReducer> next_;
  StragglerWatch stragglers_;
};

}  // namespace distribute::strategy_internal
