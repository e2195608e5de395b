#pragma once
/// Runs the steps of a training that saves its state, stops by itself, and survives lost tasks.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/leave_notice.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/estimator/checkpoint_saver_hook.hpp>
#include <distribute/estimator/session_run_hook.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/seconds_or_steps.hpp>

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute {

class Strategy;

namespace train {

/// Coordinates workers that do not step together. They share variables: the chief initializes
/// these, and the others wait for it. Under a ParameterServerStrategy no SessionReadiness is
/// needed, since the servers store the chief's ready flag.
class SessionReadiness {
 public:
  virtual ~SessionReadiness() = default;
  /// The chief calls it when all variables have their values.
  virtual void set_ready() = 0;
  /// Workers other than the chief call it. Returns whether the chief is ready.
  /// Blocks  until the chief has called set_ready(), at most `seconds`.
  virtual bool wait_until_ready(double seconds) = 0;
};

struct MonitoredTrainingSessionOptions {  // options of MonitoredTrainingSession
  std::optional<bool> is_chief = {};      // unset: the strategy decides
  std::string checkpoint_dir = {};        // empty: nothing is saved or restored
  CheckpointParts parts = {};             // parts that are saved, such as model and optimizer
  /// An int64 variable that all workers share, such as optimizer.iterations_variable(). Without it
  /// the session counts its own steps.
  Variable global_step = {};
  std::vector<SessionHookHandle> hooks = {};
  std::vector<SessionHookHandle> chief_only_hooks = {};
  SecondsOrSteps save_checkpoint = {.secs = 600};
  std::vector<Handle<CheckpointSaverListener>> saving_listeners = {};  // called around these saves
  SecondsOrSteps save_summaries = {.steps = 100};
  std::optional<int64_t> log_step_count_steps = 100;  // unset: the speed is not logged
  std::string summary_dir = {};                       // empty: checkpoint_dir
  std::string checkpoint_basename = "model.ckpt";
  std::optional<int64_t> max_to_keep = 5;
  std::function<void()> init_fn = {};  // the chief calls it when there is nothing to restore
  /// Null: parameter servers of the strategy coordinate the workers; without them, workers step
  /// together or there is only one.
  SessionReadiness* readiness = nullptr;
  double max_wait_secs = 7200;  // limit of the wait for the chief
  std::FILE* out = stdout;      // for the chief's lines about speed and checkpoints; null: none
  std::function<double()> clock = {};  // in seconds; unset: the system's steady clock
};

/// A step may return nothing, figures, or a number, which is then called "loss".
template <typename F>
concept SessionStep = std::invocable<F&> &&(std::is_void_v<std::invoke_result_t<F&>> ||
                                            std::convertible_to<std::invoke_result_t<F&>, Logs> ||
                                            std::convertible_to<std::invoke_result_t<F&>, double>);

/// Takes the place of `with MonitoredTrainingSession(...) as session:`, from construction to
/// close() or destruction. Used by one thread, outside strategy.run.
///
/// Rules:
/// 1. A step that throws AbortedError or UnavailableError is repeated in a new session: the chief
///    restores the newest checkpoint, and the other workers wait for it. The loss of a parameter
///    server ends the process instead. A chief that restarts while servers have kept the variables
///    restores nothing.
/// 2. OutOfRangeError means the end of the data and ends the session normally. run() throws any
///    other error, and the session is over.
/// 3. Workers that step together all make the session and the same calls; when one stops, all stop.
///    Only the chief writes.
/// 4. With a checkpoint_dir, a task that saves may be told to leave, by SIGTERM or by a parameter
///    server that was. It then closes the session after the step, with the last saves of the hooks,
///    and ends the process with kExitPreempted. Workers that step together all do so. TensorFlow's
///    session dies of the signal.
///
///   MonitoredTrainingSession session({.checkpoint_dir = "ckpt",
///                                     .parts = {{"model", &model}, {"optimizer", &optimizer}},
///                                     .global_step = optimizer.iterations_variable(),
///                                     .hooks = {StopAtStepHook({.last_step = 1000})}});
///   while (!session.should_stop()) session.run([&] { return step(iterator.get_next()); });
///
/// Source  tf.compat.v1.train.MonitoredTrainingSession
class MonitoredTrainingSession {
 public:
  /// Throws  InvalidArgumentError if both seconds and steps are given, and for saving_listeners
  ///         without a save_checkpoint; DeadlineExceededError when the chief was not ready within
  ///         max_wait_secs; what restoring throws.
  explicit MonitoredTrainingSession(MonitoredTrainingSessionOptions options);
  /// Calls close(), unless an exception is propagating; errors are printed to stderr.
  ~MonitoredTrainingSession();
  MonitoredTrainingSession(const MonitoredTrainingSession&) = delete;
  MonitoredTrainingSession& operator=(const MonitoredTrainingSession&) = delete;

  /// Returns whether the loop should end: a hook, the end of the data, or request_stop() has asked
  /// for it.
  bool should_stop() const { return stop_; }
  void request_stop() { stop_ = true; }
  /// Runs one step and returns its result, or nothing at the end of the data.
  /// Throws  FailedPreconditionError after the end; what step and hooks throw.
  template <SessionStep F>
  Logs run(F&& step);
  /// Ends the session; hooks do their last work, such as saving.
  void close();

  /// Returns the current step of the job, and whether this task is the chief.
  int64_t global_step() const;
  bool is_chief() const { return is_chief_; }
  Strategy& strategy() const { return strategy_; }
  /// Returns the step that was restored when the session was last created; unset when nothing was
  /// restored.
  std::optional<int64_t> restored_step() const { return restored_step_; }
  /// Saves a checkpoint of this step. Workers that step together all call it. It does nothing
  /// without checkpoint_dir.
  void save();
  /// Returns whether `mine` is true on one of the workers that step together; without others,
  /// `mine` itself.
  bool any_worker(bool mine) const;
  const MonitoredTrainingSessionOptions& options() const { return options_; }

 private:
  void add_default_hooks();
  void create();
  void restore_or_initialize();
  void recreate(const std::string& reason);
  Logs run_step(const std::function<Logs()>& step);
  Logs try_step(const std::function<Logs()>& step);
  bool was_told() const { return notice_ && notice_->has_come(); }
  void leave_if_told();

  MonitoredTrainingSessionOptions options_;
  Strategy& strategy_;
  bool is_chief_, together_, own_step_;
  Variable global_step_;
  std::vector<SessionHookHandle> hooks_;
  std::unique_ptr<Checkpoint> checkpoint_;
  std::unique_ptr<CheckpointManager> manager_;
  std::unique_ptr<const LeaveNotice> notice_;  // tells whether a task that saves must leave
  std::optional<int64_t> restored_step_;
  bool stop_ = false, closed_ = false;
  int exceptions_;
};

template <SessionStep F>
Logs MonitoredTrainingSession::run(F&& step) {
  using Result = std::invoke_result_t<F&>;
  return run_step([&]() -> Logs {
    if constexpr (std::is_void_v<Result>) {
      step();
      return {};
    } else if constexpr (std::convertible_to<Result, double>) {
      return {{"loss", double(step())}};
    } else {
      return step();
    }
  });
}

}  // namespace train
}  // namespace distribute
