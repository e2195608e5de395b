#pragma once
/// What wants to know when a session saves a checkpoint.

#include <distribute/base/config.hpp>

#include <cstdint>

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

}  // namespace distribute::train
