#pragma once
/// Does something at the end of a session.

#include <distribute/base/config.hpp>
#include <distribute/estimator/session_run_hook.hpp>
#include <distribute/train/logs.hpp>

#include <functional>
#include <utility>

namespace distribute::train {

/// Calls `final_ops` at the session's end. Source  tf.estimator.FinalOpsHook
class FinalOpsHook : public SessionRunHook {
 public:
  explicit FinalOpsHook(std::function<Logs()> final_ops) : final_ops_(std::move(final_ops)) {}
  void end(MonitoredTrainingSession&) override { final_ops_values_ = final_ops_(); }
  /// What they gave; empty before the end.
  const Logs& final_ops_values() const { return final_ops_values_; }

 private:
  std::function<Logs()> final_ops_;
  Logs final_ops_values_;
};

}  // namespace distribute::train
