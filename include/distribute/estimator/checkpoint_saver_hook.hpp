#pragma once
/// The hook that saves checkpoints, and the interface of its listeners.

#include <distribute/base/config.hpp>
#include <distribute/estimator/session_run_hook.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/seconds_or_steps.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

namespace distribute::train {

class MonitoredTrainingSession;

/// A listener is called before and after every save.
/// Source  tf.estimator.CheckpointSaverListener
class CheckpointSaverListener {
 public:
  virtual ~CheckpointSaverListener() = default;
  virtual void begin() {}
  virtual void before_save(MonitoredTrainingSession& session, int64_t step) {
    (void)session, (void)step;
  }
  /// Called after a save; returning true ends the session.
  virtual bool after_save(MonitoredTrainingSession& session, int64_t step) {
    (void)session, (void)step;
    return false;
  }
  virtual void end(MonitoredTrainingSession& session, int64_t step) { (void)session, (void)step; }
};

struct CheckpointSaverHookOptions {  // options of CheckpointSaverHook
  SecondsOrSteps save = {.secs = 600};
  std::vector<Handle<CheckpointSaverListener>> listeners = {};
  std::FILE* out = stdout;  // stream for the chief's "Saving checkpoints for 9 into ..."; or null
  std::function<double()> clock = {};
};

/// Saves the session's parts to the session's directory: when the session is created, at intervals,
/// and at the end. If workers step together, every worker has the hook, and the chief's clock
/// decides.
/// Source  tf.estimator.CheckpointSaverHook
class CheckpointSaverHook : public SessionRunHook {
 public:
  /// Throws  InvalidArgumentError unless exactly one of seconds and steps is given.
  explicit CheckpointSaverHook(CheckpointSaverHookOptions options);
  DISTRIBUTE_INLINE void begin() override;
  DISTRIBUTE_INLINE void after_create_session(MonitoredTrainingSession& session) override;
  DISTRIBUTE_INLINE void after_run(SessionRunContext& context,
                                   const SessionRunValues& values) override;
  DISTRIBUTE_INLINE void end(MonitoredTrainingSession& session) override;

 private:
  bool is_due(MonitoredTrainingSession& session, int64_t step) const;
  bool save(MonitoredTrainingSession& session, int64_t step);

  std::vector<Handle<CheckpointSaverListener>> listeners_;
  std::FILE* out_;
  SecondsOrStepsTimer timer_;
};

}  // namespace distribute::train
