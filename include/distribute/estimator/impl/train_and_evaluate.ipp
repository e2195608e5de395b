#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/estimator/detail/log_lines.hpp>
#include <distribute/estimator/train_and_evaluate.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/checkpoint_files.hpp>
#include <distribute/train/seconds_or_steps.hpp>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace distribute::train_internal {

/// Evaluates each new checkpoint once.
class CheckpointEvaluator {
 public:
  enum class Status { Evaluated, NoCheckpoint, NoNewCheckpoint };

  CheckpointEvaluator(train::Estimator& estimator, const train::EvalSpec& spec,
                      std::optional<int64_t> max_steps)
      : estimator_(estimator), spec_(spec), max_steps_(max_steps) {}

  Status evaluate() {
    const auto latest = estimator_.latest_checkpoint();
    if (!latest) return skip(Status::NoCheckpoint, "there is no checkpoint yet");
    if (latest == previous_) return skip(Status::NoNewCheckpoint, "there is no new checkpoint");
    result_.eval_result = estimator_.evaluate(spec_.input_fn, {.steps = spec_.steps,
                                                               .hooks = spec_.hooks,
                                                               .name = spec_.name,
                                                               .checkpoint_path = *latest});
    ++result_.evaluations;
    previous_ = latest;
    result_.export_results.clear();
    for (const train::Exporter& exporter : spec_.exporters)
      result_.export_results.push_back(
          exporter(estimator_, *latest, result_.eval_result, is_done()));
    return Status::Evaluated;
  }
  /// Whether the last checkpoint that was evaluated belongs to the last step.
  bool is_done() const {
    const double* step = result_.eval_result.find("global_step");
    return step && max_steps_ && *step >= double(*max_steps_);
  }
  const train::TrainAndEvaluateResult& result() const { return result_; }

 private:
  /// Skips an evaluation, with at most one warning in ten minutes.
  Status skip(Status status, const char* reason) {
    const double now = train::steady_seconds(estimator_.options().clock);
    if (!warned_ || now >= *warned_ + 600)
      log_warning("train",
                  str_cat("nothing to evaluate in ", estimator_.options().model_dir, ": ", reason)),
          warned_ = now;
    return status;
  }

  train::Estimator& estimator_;
  const train::EvalSpec& spec_;
  std::optional<int64_t> max_steps_;
  std::optional<std::string> previous_;
  std::optional<double> warned_;
  train::TrainAndEvaluateResult result_;
};

/// Evaluates between the steps of the training.
class EvaluatingListener : public train::CheckpointSaverListener {
 public:
  /// `alone` is the strategy whose workers do not take part in this evaluation; null if all take
  /// part or there are none.
  EvaluatingListener(CheckpointEvaluator& evaluator, double throttle_secs,
                     std::function<double()> clock, std::FILE* out, StrategyExtended* alone)
      : evaluator_(evaluator),
        throttle_secs_(throttle_secs),
        clock_(std::move(clock)),
        out_(out),
        alone_(alone) {}

  bool after_save(train::MonitoredTrainingSession&, int64_t step) override {
    if (std::exchange(is_first_, false)) return false;
    const double now = train::steady_seconds(clock_);
    if (!last_time_ || now >= *last_time_ + throttle_secs_)
      evaluate(step);
    else
      print_line(out_, "Skip the current checkpoint eval due to throttle secs (" +
                           number_or_none(std::optional(throttle_secs_)) + " secs).");
    return false;
  }
  void end(train::MonitoredTrainingSession&, int64_t step) override {
    if (last_step_ != step) evaluate(step);
  }

 private:
  void evaluate(int64_t step) {
    last_time_ = train::steady_seconds(clock_);
    last_step_ = step;
    const std::shared_ptr<void> apart = alone_ ? alone_->work_apart() : nullptr;
    if (evaluator_.evaluate() == CheckpointEvaluator::Status::NoCheckpoint)
      throw InternalError("There was no new checkpoint after the training.");
  }

  CheckpointEvaluator& evaluator_;
  double throttle_secs_;
  std::function<double()> clock_;
  std::FILE* out_;  // null on workers other than the chief
  StrategyExtended* alone_;
  bool is_first_ = true;
  std::optional<double> last_time_;
  std::optional<int64_t> last_step_;
};

/// Does the work of one task.
class TrainingTask {
 public:
  TrainingTask(train::Estimator& estimator, const train::TrainSpec& train_spec,
               const train::EvalSpec& eval_spec, const train::TrainAndEvaluateOptions& options)
      : estimator_(estimator), train_(train_spec), eval_(eval_spec), options_(options) {}

  train::TrainAndEvaluateResult run();

 private:
  void check() const;
  void sleep(double seconds) const;
  using Listeners = std::vector<train::Handle<train::CheckpointSaverListener>>;
  /// Trains with the saving listeners of the spec, and then `more`.
  void train(const Listeners& more = {});
  train::TrainAndEvaluateResult train_and_evaluate_here();
  train::TrainAndEvaluateResult evaluate_until_done();
  void run_ps() const;
  void wait_for_turn() const;

  train::Estimator& estimator_;
  const train::TrainSpec& train_;
  const train::EvalSpec& eval_;
  const train::TrainAndEvaluateOptions& options_;
};

DISTRIBUTE_INLINE void TrainingTask::check() const {
  if (!train_.input_fn || !eval_.input_fn)
    throw InvalidArgumentError("train_and_evaluate: both specs need an input_fn");
  if (train_.max_steps && *train_.max_steps <= 0)
    throw InvalidArgumentError(str_cat("Must specify max_steps > 0, given: ", *train_.max_steps));
  if (eval_.steps && *eval_.steps <= 0)
    throw InvalidArgumentError(str_cat("Must specify steps > 0, given: ", *eval_.steps));
  if (eval_.start_delay_secs < 0 || eval_.throttle_secs < 0)
    throw InvalidArgumentError("EvalSpec: start_delay_secs and throttle_secs must not be negative");
  const auto& cluster = options_.cluster;
  if (cluster.task_type == TaskType::Evaluator && cluster.task_id > 0)
    throw InvalidArgumentError(str_cat(
        "For distributed training, there can only be one `evaluator` task (with task id 0). ",
        "Given task id ", cluster.task_id));
}

DISTRIBUTE_INLINE void TrainingTask::sleep(double seconds) const {
  if (seconds <= 0) return;
  if (options_.sleep) return options_.sleep(seconds);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

DISTRIBUTE_INLINE void TrainingTask::train(const Listeners& more) {
  Listeners listeners = train_.saving_listeners;
  listeners.insert(listeners.end(), more.begin(), more.end());
  estimator_.train(train_.input_fn, {.max_steps = train_.max_steps,
                                     .hooks = train_.hooks,
                                     .saving_listeners = std::move(listeners)});
}

DISTRIBUTE_INLINE train::TrainAndEvaluateResult TrainingTask::train_and_evaluate_here() {
  CheckpointEvaluator evaluator(estimator_, eval_, train_.max_steps);
  const bool is_master = bool(options_.cluster.cluster_spec);
  std::FILE* const out = estimator_.model().is_chief() ? estimator_.options().out : nullptr;
  if (!is_master) print_line(out, "Running training and evaluation locally (non-distributed).");
  const train::SecondsOrSteps& every = estimator_.options().save_checkpoints;
  print_line(out,
             "Start train and evaluate loop. The evaluate will happen after every checkpoint. "
             "Checkpoint frequency is determined based on RunConfig arguments: "
             "save_checkpoints_steps " +
                 number_or_none(every.steps) + " or save_checkpoints_secs " +
                 number_or_none(every.secs) + ".");
  train({EvaluatingListener(evaluator, eval_.throttle_secs, estimator_.options().clock, out,
                            is_master ? &estimator_.model().strategy().extended() : nullptr)});
  return evaluator.result();
}

DISTRIBUTE_INLINE train::TrainAndEvaluateResult TrainingTask::evaluate_until_done() {
  sleep(eval_.start_delay_secs);
  CheckpointEvaluator evaluator(estimator_, eval_, train_.max_steps);
  const auto& clock = estimator_.options().clock;
  while (true) {
    const double began = train::steady_seconds(clock);
    const auto status = evaluator.evaluate();
    if (evaluator.is_done()) return evaluator.result();
    const double left = began + eval_.throttle_secs - train::steady_seconds(clock);
    // Without a throttle it would search for checkpoints continuously.
    sleep(eval_.throttle_secs == 0 && status != CheckpointEvaluator::Status::Evaluated ? 1 : left);
  }
}

DISTRIBUTE_INLINE void TrainingTask::run_ps() const {
  if (!options_.run_ps)
    throw UnimplementedError("train_and_evaluate: this task is a ps; give run_ps to serve");
  options_.run_ps();
}

/// Waits a little: if several workers took their first steps at once, all would start from the same
/// weights.
DISTRIBUTE_INLINE void TrainingTask::wait_for_turn() const {
  if (!options_.workers_step_together)
    sleep(std::min(options_.max_worker_delay_secs, 5.0 * (options_.cluster.task_id + 1)));
}

DISTRIBUTE_INLINE train::TrainAndEvaluateResult TrainingTask::run() {
  check();
  const auto& cluster = options_.cluster;
  const std::string& type = cluster.task_type.name();
  if (type == TaskType::Evaluator) return evaluate_until_done();
  if (type == "local")
    throw InvalidArgumentError(
        "`task.type` in TF_CONFIG cannot be `local`. Leaving `cluster` and `task` properties in "
        "TF_CONFIG absent triggers train and evaluate `Estimator` locally (non-distributed).");
  if (!cluster.cluster_spec || type == TaskType::Master) return train_and_evaluate_here();
  if (type == TaskType::Worker) wait_for_turn();
  if (type == TaskType::Worker || type == TaskType::Chief)
    train();
  else if (type == TaskType::ParameterServer)
    run_ps();
  else
    throw InvalidArgumentError(str_cat("Task type ", type,
                                       " is not supported. Supported task types ",
                                       "are chief, master, worker, ps, evaluator"));
  return {};
}

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE TrainAndEvaluateResult
train_and_evaluate(Estimator& estimator, const TrainSpec& train_spec, const EvalSpec& eval_spec,
                   const TrainAndEvaluateOptions& options) {
  return train_internal::TrainingTask(estimator, train_spec, eval_spec, options).run();
}

}  // namespace distribute::train
