#pragma once
/// Saves a checkpoint on all workers when one of them is told to go, and ends them.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/base/leave_notice.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>

#include <concepts>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute {

class ClusterResolver;
class StrategyExtended;

/// How a worker ends after a notice. Source  tf.distribute.experimental.TerminationConfig
struct TerminationConfig {
  /// Asked before each step whether this worker has to go; must be quick. When it is unset, the
  /// signals count.
  std::function<bool()> termination_watcher_fn = {};
  /// Ends the program after the checkpoint. Unset: exits with kExitPreempted, without destructors.
  std::function<void()> exit_fn = {};
  /// Seconds of training between the notice and the end, with a second checkpoint just before it.
  /// None: the first checkpoint is the end.
  std::optional<double> grace_period = {};
  /// Saves instead of the manager, on every worker.
  std::function<void()> save_fn = {};
  std::vector<int> signals = {SIGTERM};  // without termination_watcher_fn
  /// Steps between two questions to the other workers: a question takes about 1 us through shared
  /// memory and 40 us over a network. It is the same on all workers.
  int64_t steps_between_checks = 1;
};

/// Wraps the steps of a training loop. Before a step all workers agree whether one of them was
/// given notice; if so all save together at that very step and exit, so that a restart continues
/// without a step lost or repeated. Restores the newest checkpoint when it is made. Every worker
/// makes it, in the scope of its strategy, and the same calls. The main thread uses it.
/// Source  tf.distribute.experimental.PreemptionCheckpointHandler
class PreemptionCheckpointHandler {
 public:
  /// Saves to a manager of its own that keeps one checkpoint. `cluster_resolver`: of the strategy;
  /// may be null.
  /// Throws  InvalidArgumentError without a directory; UnimplementedError for a cluster with
  ///         parameter servers; what restoring throws.
  PreemptionCheckpointHandler(const ClusterResolver* cluster_resolver,
                              train::Checkpoint& checkpoint, const std::string& checkpoint_dir,
                              TerminationConfig termination_config = {});
  PreemptionCheckpointHandler(const ClusterResolver* cluster_resolver,
                              train::CheckpointManager& manager,
                              TerminationConfig termination_config = {});
  ~PreemptionCheckpointHandler();
  PreemptionCheckpointHandler(const PreemptionCheckpointHandler&) = delete;
  PreemptionCheckpointHandler& operator=(const PreemptionCheckpointHandler&) = delete;

  /// Saves and exits if it is time, else gives fn(args...). An exception of fn reaches all workers;
  /// OutOfRangeError, the end of the data, is this worker's own.
  template <typename Fn, typename... Args>
  requires std::invocable<Fn&, const Args&...>
  auto run(Fn&& fn, const Args&... args);

  /// For loops that do not wrap their step: the same check, counted as a call of run.
  void save_checkpoint_if_preempted();

  /// Calls fn() without a check; its exceptions reach all workers as those of run.
  void watch_preemption_scope(const std::function<void()>& fn);

  /// Over all starts of the job: it is saved with the checkpoint, as `checkpointed_runs`.
  int64_t total_run_calls() const { return total_run_calls_; }

 private:
  PreemptionCheckpointHandler(const ClusterResolver* resolver,
                              std::unique_ptr<train::CheckpointManager> own,
                              train::CheckpointManager* manager, TerminationConfig config);
  void track_run_calls();
  void check();
  bool grace_is_over() const;
  void save();
  void finish();
  void run_step(const std::function<void()>& step);

  std::unique_ptr<train::CheckpointManager> own_manager_;
  train::CheckpointManager& manager_;
  StrategyExtended& extended_;
  const TerminationConfig config_;
  std::unique_ptr<const LeaveNotice> notice_;
  Variable checkpointed_runs_;
  int64_t total_run_calls_ = 0, calls_here_ = 0;
  double first_call_ = 0;              // in seconds of a clock that never goes back
  std::optional<double> grace_began_;  // on the same clock
  bool finished_ = false;
};

template <typename Fn, typename... Args>
requires std::invocable<Fn&, const Args&...>
auto PreemptionCheckpointHandler::run(Fn&& fn, const Args&... args) {
  using Result = std::invoke_result_t<Fn&, const Args&...>;
  if constexpr (std::is_void_v<Result>) {
    run_step([&] { fn(args...); });
  } else {
    std::optional<std::decay_t<Result>> result;
    run_step([&] { result.emplace(fn(args...)); });
    return *std::move(result);
  }
}

namespace train {

/// For the chief of a job whose parameter servers keep the variables: the tasks need not save at
/// the same step, and the other tasks wait for its return. Where all workers save together it is
/// PreemptionCheckpointHandler. While it lives SIGTERM is noticed and does not end the process. One
/// thread, the main one.
class ChiefPreemptionHandler {
 public:
  /// `manager` must outlive it. `further`: asked besides SIGTERM and PreemptionNotice whether this
  /// task has to go; may be empty.
  explicit ChiefPreemptionHandler(CheckpointManager& manager, std::function<bool()> further = {});

  /// Whether this task was told to go.
  bool was_preempted() const { return notice_.has_come(); }
  /// Call it between two steps. If the task was told to go, it saves checkpoint number `step` and
  /// ends the process with kExitPreempted.
  /// Throws  what CheckpointManager::save throws.
  void save_checkpoint_if_preempted(int64_t step);

 private:
  CheckpointManager& manager_;
  const LeaveNotice notice_;
};

}  // namespace train

}  // namespace distribute
