#pragma once
/// Estimator and its RunConfig.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_spec.hpp>
#include <distribute/cluster/environment.hpp>
#include <distribute/estimator/checkpoint_saver_hook.hpp>
#include <distribute/estimator/monitored_training_session.hpp>
#include <distribute/saved_model/saved_model.hpp>
#include <distribute/train/fit_options.hpp>
#include <distribute/train/model.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

/// The answers of tf.estimator.RunConfig about the cluster.
struct RunConfigCluster {
  ClusterSpec cluster_spec;  // empty for an evaluator, which is outside of it
  TaskType task_type = TaskType::Worker;
  int task_id = 0;
  std::string master;             // "" alone and for evaluators, else grpc://host:port
  std::string evaluation_master;  // eval_session_master, or ""
  bool is_chief = true;
  int num_ps_replicas = 0;
  int num_worker_replicas = 1;  // with the chief
  /// The chief is 0; then other jobs in the order of their names, parameter servers last. An
  /// evaluator has none.
  std::optional<int> global_id_in_cluster = 0;
  std::string model_dir;
};

/// Reads TF_CONFIG. A cluster must have exactly one chief (or one master, and then no chief and no
/// evaluator), and the task a type of the cluster, or evaluator, and an index. Without a cluster
/// the task is worker 0. `model_dir` must be the same as TF_CONFIG's where both are given. Throws
/// InvalidArgumentError for anything else, and for text that cannot be read.
/// Source  tf.estimator.RunConfig, _init_distributed_setting_from_environment_var
RunConfigCluster read_run_config_cluster(const Environment& variables = {},
                                         const std::string& model_dir = "");

}  // namespace distribute

namespace distribute::train {

/// Makes the data anew for every training and evaluation.
using InputFunction = std::function<InputData()>;

struct EstimatorOptions {  // options of Estimator
  std::string model_dir = {};
  SecondsOrSteps save_checkpoints = {.secs = 600};
  std::optional<int64_t> keep_checkpoint_max = 5;
  SecondsOrSteps save_summary = {.steps = 100};
  std::optional<int64_t> log_step_count_steps = 100;
  /// A checkpoint, or the directory of some, whose weights a training without a checkpoint of its
  /// own begins with: of the variables whose names begin as the POSIX regular expression says,
  /// under other names there where the map has them. Source  tf.estimator.WarmStartSettings
  std::string warm_start_from = {};
  std::string vars_to_warm_start = ".*";
  std::map<std::string, std::string> var_name_to_prev_var_name = {};
  SessionReadiness* readiness = nullptr;  // as of MonitoredTrainingSession
  std::optional<bool> is_chief = {};      // none: what the strategy says
  std::function<double()> clock = {};     // in seconds; unset: the system's steady one
};

/// Source  tf.estimator.RunConfig, whose cluster part the strategy has
using RunConfig = EstimatorOptions;

struct EstimatorTrainOptions {            // of Estimator::train
  std::optional<int64_t> steps = {};      // of this call
  std::optional<int64_t> max_steps = {};  // of all calls and workers together
  std::vector<SessionHookHandle> hooks = {};
  std::vector<Handle<CheckpointSaverListener>> saving_listeners = {};
};

struct EstimatorEvaluateOptions {     // of Estimator::evaluate
  std::optional<int64_t> steps = {};  // none: all data
  /// Around each batch, with the figures so far; global_step is the checkpoint's.
  std::vector<SessionHookHandle> hooks = {};
  std::string name = {};             // of the run: eval_dir(name)
  std::string checkpoint_path = {};  // empty: the newest
};

struct EstimatorPredictOptions {              // of Estimator::predict
  std::vector<SessionHookHandle> hooks = {};  // around each batch; there are no figures
  std::string checkpoint_path = {};           // empty: the newest
};

struct EstimatorExportOptions {        // of its exports
  saved_model::SaveOptions save = {};  // its input stands for a serving_input_receiver_fn
  std::string checkpoint_path = {};    // empty: the newest
};

/// Over a train::Model, in place of a model function: what the model does in ModeKeys.TRAIN, EVAL
/// and PREDICT is its train_step, test_step and predict_step. Checkpoints
/// MODEL_DIR/model.ckpt-<step> with the parts "model" and "optimizer". The rules for threads and
/// workers are those for the model and the session.
/// Source  tf.estimator.Estimator
class Estimator {
 public:
  /// `model` is compiled and outlives the estimator.
  /// Throws  InvalidArgumentError without a directory.
  Estimator(Model& model, EstimatorOptions options);

  /// Until the data ends or the steps are done; goes on from the newest checkpoint.
  /// Throws  InvalidArgumentError where both steps and max_steps are given, or one is below 1, and
  ///         for a bad regular expression; for a warm start what load_weights throws.
  void train(const InputFunction& input_fn, const EstimatorTrainOptions& options = {});
  /// Evaluates a checkpoint's weights, which the model has meanwhile; then it has its own again,
  /// and servers see nothing of it, so that other workers go on training. The figures have a
  /// "global_step", and are written for TensorBoard. A hook may end it early.
  /// Throws  NotFoundError when there is no checkpoint; InvalidArgumentError for steps below 1, and
  ///         for data without examples.
  Logs evaluate(const InputFunction& input_fn, const EstimatorEvaluateOptions& options = {});
  /// What a checkpoint's weights, borrowed as by evaluate(), predict for all examples, on every
  /// worker. A hook may end it early.
  /// Shapes  [examples, ...]
  /// Throws  NotFoundError when there is no checkpoint; InvalidArgumentError for data that is
  ///         divided among the replicas already: predictions have the order of the data.
  Tensor predict(const InputFunction& input_fn, const EstimatorPredictOptions& options = {});
  /// Writes a checkpoint's weights, borrowed as by evaluate(), to EXPORT_DIR_BASE/<seconds since
  /// 1970>, as TensorFlow Serving looks for versions; gives back that path. Every worker calls it.
  /// Throws  NotFoundError when there is no checkpoint; what saved_model::save throws.
  std::string export_saved_model(const std::string& export_dir_base,
                                 const EstimatorExportOptions& options = {});

  /// The newest checkpoint of model_dir.
  std::optional<std::string> latest_checkpoint() const;
  /// Give the names of the variables in the newest checkpoint, and the value of one.
  /// Throw  NotFoundError when there is no checkpoint, or none of that name; InvalidArgumentError
  ///        for a name that two variables have; what BundleReader throws.
  std::vector<std::string> get_variable_names() const;
  Tensor get_variable_value(const std::string& name) const;
  const std::string& model_dir() const { return options_.model_dir; }
  /// Where evaluations of that name write their figures: MODEL_DIR/eval, or MODEL_DIR/eval_<name>.
  std::string eval_dir(const std::string& name = "") const;

  /// What it was made with.
  Model& model() const { return model_; }
  const EstimatorOptions& options() const { return options_; }

 private:
  /// `given`, or the newest.
  std::string checkpoint_to_read(const std::string& given) const;
  void restore(const std::string& checkpoint);
  void warm_start();
  void write_figures(const Logs& figures, int64_t step, const std::string& name) const;
  /// Neither restores nor saves anything.
  MonitoredTrainingSessionOptions session_of_hooks(const std::vector<SessionHookHandle>& hooks,
                                                   const std::string& checkpoint) const;

  Model& model_;
  EstimatorOptions options_;
};

}  // namespace distribute::train
