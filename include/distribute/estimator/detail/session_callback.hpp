#pragma once
/// Runs a session's hooks around the batches of evaluate and predict.

#include <distribute/base/config.hpp>
#include <distribute/estimator/session_run_hook.hpp>
#include <distribute/train/callback.hpp>

#include <cstdint>
#include <optional>

namespace distribute::train_internal {

/// The session's own steps are not run: it begins, counts as created and ends by itself, the
/// batches in between come from here. A hook that asks for the end gets it after its batch.
class SessionCallback : public train::Callback {
 public:
  /// `session` outlives this object.
  explicit SessionCallback(train::MonitoredTrainingSession& session) : session_(session) {}

  void on_test_batch_begin(int64_t, train::Logs&) override { before_run(); }
  DISTRIBUTE_INLINE void on_test_batch_end(int64_t, train::Logs& logs) override;
  void on_predict_batch_begin(int64_t, train::Logs&) override { before_run(); }
  DISTRIBUTE_INLINE void on_predict_batch_end(int64_t, train::Logs& logs) override;
  /// Hooks see the metrics so far.
  DISTRIBUTE_INLINE bool wants_batch_metrics() const override;

 private:
  void before_run();
  /// Whether a hook of any worker wants no further batch.
  bool after_run(const train::Logs& logs);

  train::MonitoredTrainingSession& session_;
  std::optional<train::SessionRunContext> context_;  // of the batch
};

}  // namespace distribute::train_internal
