#pragma once
/// SessionRunHook, and TensorFlow's hooks for stopping, counting, logging and summaries.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/base/error.hpp>
#include <distribute/summary/file_writer.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/seconds_or_steps.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace distribute::train {

class MonitoredTrainingSession;

/// The results of a step.
struct SessionRunValues {
  const Logs& results;
  int64_t global_step;  // count after the step
};

/// Passed to hooks in one step; hooks may request the end of the session.
class SessionRunContext {
 public:
  explicit SessionRunContext(MonitoredTrainingSession& session) : session_(session) {}
  MonitoredTrainingSession& session() const { return session_; }
  void request_stop() { stop_requested_ = true; }
  bool stop_requested() const { return stop_requested_; }

 private:
  MonitoredTrainingSession& session_;
  bool stop_requested_ = false;
};

/// Is the base of hooks: override what is needed. Called outside strategy.run, on the session's
/// thread.
/// Source  tf.estimator.SessionRunHook
class SessionRunHook {
 public:
  virtual ~SessionRunHook() = default;
  /// Called once, before the session is created.
  virtual void begin() {}
  /// Called whenever the session was created, also after a failure; variables have their values.
  virtual void after_create_session(MonitoredTrainingSession& session) { (void)session; }
  virtual void before_run(SessionRunContext& context) { (void)context; }
  /// Called after each step, unless the step has thrown.
  virtual void after_run(SessionRunContext& context, const SessionRunValues& values) {
    (void)context, (void)values;
  }
  /// Called at the end of the session, unless an error has ended it.
  virtual void end(MonitoredTrainingSession& session) { (void)session; }

 protected:
  SessionRunHook() = default;
  SessionRunHook(const SessionRunHook&) = default;
  SessionRunHook& operator=(const SessionRunHook&) = default;
};

/// An element of `.hooks = {StopAtStepHook({.last_step = 1000}), my_hook}`.
using SessionHookHandle = Handle<SessionRunHook>;

/// Calls `final_ops` at the session's end. Source  tf.estimator.FinalOpsHook
class FinalOpsHook : public SessionRunHook {
 public:
  explicit FinalOpsHook(std::function<Logs()> final_ops) : final_ops_(std::move(final_ops)) {}
  void end(MonitoredTrainingSession&) override { final_ops_values_ = final_ops_(); }
  /// Returns the results of `final_ops`; empty before the end.
  const Logs& final_ops_values() const { return final_ops_values_; }

 private:
  std::function<Logs()> final_ops_;
  Logs final_ops_values_;
};

struct LoggingTensorHookOptions {         // options of LoggingTensorHook
  std::vector<std::string> tensors = {};  // names of figures; empty: all
  SecondsOrSteps every = {.steps = 100};  // counts steps of this worker
  bool at_end = false;                    // prints the last figures, too
  std::function<std::string(const Logs&)> formatter = {};
  std::FILE* out = stdout;
  std::function<double()> clock = {};
};

/// Prints "loss = 0.25, accuracy = 0.9, step = 100 (1.200 sec)" on each worker that has the hook,
/// or what `formatter` returns. The step is the global step before the update, as in the lines of
/// TensorFlow's estimators; TensorFlow's hook prints it if it is one of the tensors.
/// Source  tf.estimator.LoggingTensorHook
class LoggingTensorHook : public SessionRunHook {
 public:
  /// Throws  InvalidArgumentError unless exactly one of seconds and steps is given.
  explicit LoggingTensorHook(LoggingTensorHookOptions options);
  DISTRIBUTE_INLINE void before_run(SessionRunContext& context) override;
  /// Throws  NotFoundError for a figure that the step does not give.
  DISTRIBUTE_INLINE void after_run(SessionRunContext& context,
                                   const SessionRunValues& values) override;
  DISTRIBUTE_INLINE void end(MonitoredTrainingSession& session) override;

 private:
  void print(int64_t step);

  LoggingTensorHookOptions options_;
  SecondsOrStepsTimer timer_;
  Logs last_;
  int64_t runs_ = 0;
  std::optional<int64_t> step_before_;  // set if this step's figures are to be printed
};

/// Reports a loss that is NaN or infinite. Source  tf.estimator.NanLossDuringTrainingError
class NanLossDuringTrainingError : public FailedPreconditionError {
 public:
  using FailedPreconditionError::FailedPreconditionError;
};

struct NanTensorHookOptions {    // options of NanTensorHook
  std::string tensor = "loss";   // name of the figure
  bool fail_on_nan_loss = true;  // false: the session ends without an error
};

/// Ends the training when a figure is NaN or infinite. Steps that do not give the figure are
/// ignored.
/// Source  tf.estimator.NanTensorHook
class NanTensorHook : public SessionRunHook {
 public:
  explicit NanTensorHook(EmptyBraces) : NanTensorHook() {}
  explicit NanTensorHook(NanTensorHookOptions options = {}) : options_(std::move(options)) {}
  /// Throws  NanLossDuringTrainingError that names figure and step.
  DISTRIBUTE_INLINE void after_run(SessionRunContext& context,
                                   const SessionRunValues& values) override;

 private:
  NanTensorHookOptions options_;
};

struct StepCounterHookOptions {  // options of StepCounterHook
  SecondsOrSteps every = {.steps = 100};
  std::string output_dir = {};  // directory of the scalar "global_step/sec"; empty: not written
  std::FILE* out = stdout;      // stream for "global_step/sec: 12.5"; null: not printed
  std::function<double()> clock = {};
};

/// Measures the shared steps, which are those of all workers, from the first step on: with 100 it
/// prints after steps 101, 201 and so on, as TensorFlow's does. Only the chief needs it.
/// Source  tf.estimator.StepCounterHook
class StepCounterHook : public SessionRunHook {
 public:
  /// Throws  InvalidArgumentError unless exactly one of seconds and steps is given.
  explicit StepCounterHook(StepCounterHookOptions options);
  DISTRIBUTE_INLINE void after_create_session(MonitoredTrainingSession& session) override;
  DISTRIBUTE_INLINE void after_run(SessionRunContext& context,
                                   const SessionRunValues& values) override;
  DISTRIBUTE_INLINE void end(MonitoredTrainingSession& session) override;

 private:
  std::string output_dir_;
  std::FILE* out_;
  SecondsOrStepsTimer timer_;
  std::optional<summary::FileWriter> writer_;
};

struct StopAtStepHookOptions {            // options of StopAtStepHook
  std::optional<int64_t> num_steps = {};  // counted from the beginning of the session
  std::optional<int64_t> last_step = {};  // value of the shared count
};

/// Ends the session after a number of steps. Source  tf.estimator.StopAtStepHook
class StopAtStepHook : public SessionRunHook {
 public:
  /// Throws  InvalidArgumentError unless exactly one of the two is given.
  explicit StopAtStepHook(StopAtStepHookOptions options);
  DISTRIBUTE_INLINE void after_create_session(MonitoredTrainingSession& session) override;
  DISTRIBUTE_INLINE void after_run(SessionRunContext& context,
                                   const SessionRunValues& values) override;

 private:
  StopAtStepHookOptions options_;
};

struct SummarySaverHookOptions {  // options of SummarySaverHook
  SecondsOrSteps save = {.steps = 100};
  std::string output_dir;
  std::function<double()> clock = {};
};

/// Writes each figure as a scalar under its name, at the global step. Only the chief needs it.
/// Source  tf.estimator.SummarySaverHook
class SummarySaverHook : public SessionRunHook {
 public:
  /// Throws  InvalidArgumentError unless exactly one of seconds and steps is given, and without a
  ///         directory.
  explicit SummarySaverHook(SummarySaverHookOptions options);
  DISTRIBUTE_INLINE void after_create_session(MonitoredTrainingSession& session) override;
  DISTRIBUTE_INLINE void after_run(SessionRunContext& context,
                                   const SessionRunValues& values) override;
  DISTRIBUTE_INLINE void end(MonitoredTrainingSession& session) override;

 private:
  std::string output_dir_;
  SecondsOrStepsTimer timer_;
  std::optional<summary::FileWriter> writer_;
};

}  // namespace distribute::train
