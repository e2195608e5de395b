#pragma once
/// Saves a checkpoint on all workers when one of them is to be preempted, and ends them.

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
  /// Called before each step; returns whether this worker is to be preempted. It must be quick. If
  /// it is unset, the signals are used.
  std::function<bool()> termination_watcher_fn = {};
  /// Ends the program after the checkpoint. Unset: exits with kExitPreempted, without destructors.
  std::function<void()> exit_fn = {};
  /// Seconds of training between the notice and the end, with a second checkpoint just before it.
  /// Unset: the program ends after the first checkpoint.
  std::optional<double> grace_period = {};
  /// Runs on every worker to save in place of the manager.
  std::function<void()> save_fn = {};
  std::vector<int> signals = {SIGTERM};  // used without termination_watcher_fn
  /// Steps between two checks with the other workers: a check takes about 1 us through shared
  /// memory and 40 us over a network. It is the same on all workers.
  int64_t steps_between_checks = 1;
};

/// Wraps the steps of a training loop. The constructor restores the newest checkpoint. Every worker
/// makes it, in the scope of its strategy, and makes the same calls, on the main thread.
/// 1. Before a step all workers agree whether one of them got a notice.
/// 2. If so, all save together at that step and exit, so that a restart continues without a step
///    lost or repeated.
/// Source  tf.distribute.experimental.PreemptionCheckpointHandler
class PreemptionCheckpointHandler {
 public:
  /// Saves with its own manager, which keeps one checkpoint. `cluster_resolver` is that of the
  /// strategy and may be null.
  /// Throws  InvalidArgumentError without a directory; UnimplementedError for a cluster with
  ///          parameter servers; what restoring throws.
  PreemptionCheckpointHandler(const ClusterResolver* cluster_resolver,
                              train::Checkpoint& checkpoint, const std::string& checkpoint_dir,
                              TerminationConfig termination_config = {});
  PreemptionCheckpointHandler(const ClusterResolver* cluster_resolver,
                              train::CheckpointManager& manager,
                              TerminationConfig termination_config = {});
  ~PreemptionCheckpointHandler();
  PreemptionCheckpointHandler(const PreemptionCheckpointHandler&) = delete;
  PreemptionCheckpointHandler& operator=(const PreemptionCheckpointHandler&) = delete;

  /// Saves and exits if a notice has come, else returns fn(args...). An exception of fn is thrown
  /// on all workers, except OutOfRangeError, the end of the data, which stays on this worker.
  template <typename Fn, typename... Args>
  requires std::invocable<Fn&, const Args&...>
  auto run(Fn&& fn, const Args&... args);

  /// Makes the same check for loops that do not wrap their step; it counts as a call of run.
  void save_checkpoint_if_preempted();

  /// Calls fn() without a check; its exceptions are thrown on all workers as those of run.
  void watch_preemption_scope(const std::function<void()>& fn);

  /// Returns the number over all starts of the job, which is saved with the checkpoint as
  /// `checkpointed_runs`.
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

/// Saves on the chief of a job whose parameter servers keep the variables: the tasks need not save
/// at the same step, and the other tasks wait for the chief's return. Jobs in which all workers
/// save together use PreemptionCheckpointHandler. While it lives SIGTERM is recorded and does not
/// end the process. It is used by one thread, the main one.
class ChiefPreemptionHandler {
 public:
  /// `manager` must outlive it. `further`, which may be empty, returns whether this task is to be
  /// preempted for another reason than SIGTERM and PreemptionNotice.
  explicit ChiefPreemptionHandler(CheckpointManager& manager, std::function<bool()> further = {});
  /// Watches for a chief that has nowhere to save. It ends with a line and kExitPreempted when it
  /// gets another notice than SIGTERM, such as a server's. SIGTERM does what it did before.
  ChiefPreemptionHandler();

  /// Returns whether this task got a notice.
  bool was_preempted() const { return notice_.has_come(); }
  /// Call it between two steps. If the task got a notice, it saves checkpoint number `step` and
  /// ends the process with kExitPreempted.
  /// Throws  what CheckpointManager::save throws.
  void save_checkpoint_if_preempted(int64_t step);

 private:
  CheckpointManager* const manager_;  // null: nothing is saved
  const LeaveNotice notice_;
};

}  // namespace train

}  // namespace distribute
