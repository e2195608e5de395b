#pragma once
/// The hook that saves checkpoints, and its listeners.

#include <distribute/base/config.hpp>
#include <distribute/estimator/session_run_hook.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/seconds_or_steps.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace distribute::train {

class MonitoredTrainingSession;

/// Called around every save.
/// Source  tf.estimator.CheckpointSaverListener
class CheckpointSaverListener {
 public:
  virtual ~CheckpointSaverListener() = default;
  virtual void begin() {}
  virtual void before_save(MonitoredTrainingSession& session, int64_t step) {
    (void)session, (void)step;
  }
  /// True ends the session.
  virtual bool after_save(MonitoredTrainingSession& session, int64_t step) {
    (void)session, (void)step;
    return false;
  }
  virtual void end(MonitoredTrainingSession& session, int64_t step) { (void)session, (void)step; }
};

struct CheckpointSaverHookOptions {  // options of CheckpointSaverHook
  SecondsOrSteps save = {.secs = 600};
  std::vector<Handle<CheckpointSaverListener>> listeners = {};
  std::function<double()> clock = {};
};

/// Saves what the session saves, where it saves it: when it is created, in between, and at the end.
/// Where workers step together it is on all of them, and the chief's clock decides.
/// Source  tf.estimator.CheckpointSaverHook
class CheckpointSaverHook : public SessionRunHook {
 public:
  /// Throws  InvalidArgumentError where both seconds and steps are given, or none.
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
  SecondsOrStepsTimer timer_;
};

}  // namespace distribute::train
