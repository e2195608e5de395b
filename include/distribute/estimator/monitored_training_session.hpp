#pragma once
/// Runs the steps of a training that saves itself, stops by itself and gets over lost tasks.

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

/// For workers that do not step together: they share variables, the chief gives these their first
/// values, and the others wait for that. Parameter servers store the chief's ready flag, so no
/// SessionReadiness is needed under a ParameterServerStrategy.
class SessionReadiness {
 public:
  virtual ~SessionReadiness() = default;
  /// On the chief, when all variables have their values.
  virtual void set_ready() = 0;
  /// Workers other than the chief call it. Blocks until the chief has said so, or `seconds` are
  /// over; whether it has.
  virtual bool wait_until_ready(double seconds) = 0;
};

struct MonitoredTrainingSessionOptions {  // options of MonitoredTrainingSession
  std::optional<bool> is_chief = {};      // none: what the strategy says
  std::string checkpoint_dir = {};        // empty: nothing is saved nor restored
  CheckpointParts parts = {};             // what is saved, such as model and optimizer
  /// An int64 variable that all workers share, such as optimizer.iterations_variable(). None: the
  /// session counts its own steps.
  Variable global_step = {};
  std::vector<SessionHookHandle> hooks = {};
  std::vector<SessionHookHandle> chief_only_hooks = {};
  SecondsOrSteps save_checkpoint = {.secs = 600};
  std::vector<Handle<CheckpointSaverListener>> saving_listeners = {};  // around these saves
  SecondsOrSteps save_summaries = {.steps = 100};
  std::optional<int64_t> log_step_count_steps = 100;  // none: the speed is not logged
  std::string summary_dir = {};                       // empty: checkpoint_dir
  std::string checkpoint_basename = "model.ckpt";
  std::optional<int64_t> max_to_keep = 5;
  std::function<void()> init_fn = {};  // on the chief, when there is nothing to restore
  /// Null: the strategy's parameter servers, or else workers step together, or there is one.
  SessionReadiness* readiness = nullptr;
  double max_wait_secs = 7200;         // for the chief
  std::function<double()> clock = {};  // in seconds; unset: the system's steady one
};

/// Whatever a step gives: nothing, figures, or a number, which is called "loss".
template <typename F>
concept SessionStep = std::invocable<F&> &&(std::is_void_v<std::invoke_result_t<F&>> ||
                                            std::convertible_to<std::invoke_result_t<F&>, Logs> ||
                                            std::convertible_to<std::invoke_result_t<F&>, double>);

/// Stands for `with MonitoredTrainingSession(...) as session:`, from construction to close() or
/// destruction. Steps that throw AbortedError or UnavailableError are repeated after the session
/// was created anew: the chief restores the newest checkpoint, the others wait for it. A parameter
/// server that is lost ends the process instead; a chief that comes back to servers that have kept
/// the variables restores nothing.
/// OutOfRangeError is the end of the data and a good end; any other error is thrown by run, and the
/// session is over. Workers that step together all make the session and the same calls; one that
/// stops stops all. The chief alone writes. One thread, outside strategy.run.
/// With a checkpoint_dir a task that saves, and was told to go (SIGTERM, or by a parameter server
/// that was), closes the session after the step, with the hooks' last saves, and ends the process
/// with kExitPreempted; workers that step together all do. TensorFlow's session dies of the signal.
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
  /// Throws  InvalidArgumentError where both seconds and steps are given, and for saving_listeners
  ///         without a save_checkpoint; DeadlineExceededError
  ///         when the chief was not ready within max_wait_secs; what restoring throws.
  explicit MonitoredTrainingSession(MonitoredTrainingSessionOptions options);
  /// close(), unless an exception is on its way; errors go to stderr.
  ~MonitoredTrainingSession();
  MonitoredTrainingSession(const MonitoredTrainingSession&) = delete;
  MonitoredTrainingSession& operator=(const MonitoredTrainingSession&) = delete;

  /// Whether the loop is to end: a hook, the end of the data, or request_stop() has said so.
  bool should_stop() const { return stop_; }
  void request_stop() { stop_ = true; }
  /// One step; what it gave, or nothing at the end of the data.
  /// Throws  FailedPreconditionError after the end; what step and hooks throw.
  template <SessionStep F>
  Logs run(F&& step);
  /// Ends the session: hooks do their last work, such as saving.
  void close();

  /// The step that the job is at; whether this task is the chief.
  int64_t global_step() const;
  bool is_chief() const { return is_chief_; }
  Strategy& strategy() const { return strategy_; }
  /// The step that was restored at the last creation; none: started afresh.
  std::optional<int64_t> restored_step() const { return restored_step_; }
  /// Saves a checkpoint of this step. Workers that step together all call it; without
  /// checkpoint_dir does nothing.
  void save();
  /// Whether one of the workers that step together says so; alone, this one.
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
  std::unique_ptr<const LeaveNotice> notice_;  // of a task that saves
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
