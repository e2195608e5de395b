#pragma once
/// What may look at a managed session while it runs, and end it.

#include <distribute/base/config.hpp>
#include <distribute/train/handle.hpp>
#include <distribute/train/logs.hpp>

#include <cstdint>

namespace distribute::train {

class MonitoredTrainingSession;

/// What a step has given.
struct SessionRunValues {
  const Logs& results;
  int64_t global_step;  // after the step
};

/// One step's; hooks may ask for the end of the session.
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

/// Base of hooks: override what is needed. Called outside strategy.run, on the session's thread.
/// Source  tf.estimator.SessionRunHook
class SessionRunHook {
 public:
  virtual ~SessionRunHook() = default;
  /// Once, before the session is created.
  virtual void begin() {}
  /// Whenever it was created, also after a failure: variables have their values.
  virtual void after_create_session(MonitoredTrainingSession& session) { (void)session; }
  virtual void before_run(SessionRunContext& context) { (void)context; }
  /// Not when the step has thrown.
  virtual void after_run(SessionRunContext& context, const SessionRunValues& values) {
    (void)context, (void)values;
  }
  /// At the end; not after an error.
  virtual void end(MonitoredTrainingSession& session) { (void)session; }

 protected:
  SessionRunHook() = default;
  SessionRunHook(const SessionRunHook&) = default;
  SessionRunHook& operator=(const SessionRunHook&) = default;
};

/// `.hooks = {StopAtStepHook({.last_step = 1000}), my_hook}`.
using SessionHookHandle = Handle<SessionRunHook>;

}  // namespace distribute::train
