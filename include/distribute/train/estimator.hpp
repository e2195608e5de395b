#pragma once
/// A model with a directory: trains in managed sessions, evaluates its checkpoints.

#include <distribute/base/config.hpp>
#include <distribute/train/checkpoint_saver_hook.hpp>
#include <distribute/train/fit_options.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/monitored_training_session.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace distribute::train {

/// Makes the data anew for every training and evaluation.
using InputFunction = std::function<InputData()>;

struct EstimatorOptions {
  std::string model_dir;
  SecondsOrSteps save_checkpoints = {.secs = 600};
  std::optional<int64_t> keep_checkpoint_max = 5;
  SecondsOrSteps save_summary = {.steps = 100};
  std::optional<int64_t> log_step_count_steps = 100;
  SessionReadiness* readiness = nullptr;  // as of MonitoredTrainingSession
  std::optional<bool> is_chief = {};      // none: what the strategy says
  std::function<double()> clock = {};     // in seconds; unset: the system's steady one
};

struct EstimatorTrainOptions {
  std::optional<int64_t> steps = {};      // of this call
  std::optional<int64_t> max_steps = {};  // of all calls and workers together
  std::vector<SessionHookHandle> hooks = {};
  std::vector<Handle<CheckpointSaverListener>> saving_listeners = {};
};

struct EstimatorEvaluateOptions {
  std::optional<int64_t> steps = {};  // none: all data
  std::string name = {};              // of the run: model_dir/eval, or model_dir/eval_<name>
  std::string checkpoint_path = {};   // empty: the newest
};

/// Over a train::Model, in place of a model function. Checkpoints MODEL_DIR/model.ckpt-<step> with
/// the parts "model" and "optimizer". Thread rules and workers as of the model and the session.
/// Source  tf.estimator.Estimator
class Estimator {
 public:
  /// `model` is compiled and outlives the estimator.
  /// Throws  InvalidArgumentError without a directory.
  Estimator(Model& model, EstimatorOptions options);

  /// Until the data ends or the steps are done; goes on from the newest checkpoint.
  /// Throws  InvalidArgumentError where both steps and max_steps are given.
  void train(const InputFunction& input_fn, const EstimatorTrainOptions& options = {});
  /// Restores a checkpoint's weights and evaluates them. The figures have a "global_step", and are
  /// written for TensorBoard.
  /// Throws  NotFoundError when there is no checkpoint.
  Logs evaluate(const InputFunction& input_fn, const EstimatorEvaluateOptions& options = {});
  std::optional<std::string> latest_checkpoint() const;

  Model& model() const { return model_; }
  const EstimatorOptions& options() const { return options_; }

 private:
  Model& model_;
  EstimatorOptions options_;
};

}  // namespace distribute::train

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/train/impl/estimator.ipp>
#endif
