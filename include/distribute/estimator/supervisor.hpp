#pragma once
/// The older form of a managed session: a supervisor whose services run while a function trains.

#include <distribute/base/config.hpp>
#include <distribute/estimator/monitored_training_session.hpp>
#include <distribute/summary/file_writer.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace distribute::train {

struct SupervisorOptions {            // options of Supervisor
  std::optional<bool> is_chief = {};  // unset: the strategy decides
  /// directory of checkpoints and event files; empty: none are written
  std::string logdir = {};
  CheckpointParts parts = {};
  Variable global_step = {};
  double save_summaries_secs = 120;  // period of summaries and of the speed; 0: never
  double save_model_secs = 600;      // 0: never
  std::string checkpoint_basename = "model.ckpt";
  std::function<void()> init_fn = {};
  SessionReadiness* readiness = nullptr;
  double max_wait_secs = 7200;
  std::FILE* out = stdout;  // for the chief's lines about speed and checkpoints; null: none
  std::function<double()> clock = {};
};

/// A MonitoredTrainingSession with the supervisor's defaults. Its services work within the steps
/// instead of on threads of their own. Used by one thread.
///
///   Supervisor sv({.logdir = "logs", .parts = {{"model", &model}}});
///   sv.managed_session([&](MonitoredTrainingSession& session) {
///     while (!sv.should_stop()) session.run(step);
///   });
///
/// Source  tf.compat.v1.train.Supervisor
class Supervisor {
 public:
  explicit Supervisor(SupervisorOptions options) : options_(std::move(options)) {}

  /// Returns whether this task initializes variables and saves.
  bool is_chief() const;
  /// Prepares a session or waits for the chief's, calls the function, and ends the session.
  /// OutOfRangeError ends it normally. May be called again.
  /// Throws  what MonitoredTrainingSession throws, and what the function throws.
  void managed_session(const std::function<void(MonitoredTrainingSession&)>& train);
  /// Returns whether training should stop; also true outside a session.
  bool should_stop() const { return !session_ || session_->should_stop(); }
  void request_stop();
  /// Writes figures to the event file of logdir at `step`, or at the shared step.
  /// Throws  FailedPreconditionError on workers other than the chief, and without logdir.
  void summary_computed(const Logs& figures, std::optional<int64_t> step = {});

 private:
  SupervisorOptions options_;
  MonitoredTrainingSession* session_ = nullptr;
  std::optional<summary::FileWriter> writer_;
};

}  // namespace distribute::train
