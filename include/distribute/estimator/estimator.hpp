#pragma once
/// tf.estimator's Estimator and RunConfig.

#include <distribute/base/config.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/cluster/cluster_spec.hpp>
#include <distribute/estimator/checkpoint_saver_hook.hpp>
#include <distribute/estimator/monitored_training_session.hpp>
#include <distribute/saved_model/saved_model.hpp>
#include <distribute/train/fit_options.hpp>
#include <distribute/train/model.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

/// What tf.estimator.RunConfig says about the cluster.
struct RunConfigCluster {
  ClusterSpec cluster_spec;  // empty for an evaluator, which is outside of the cluster
  TaskType task_type = TaskType::Worker;
  int task_id = 0;
  std::string master;             // grpc://host:port; "" without a cluster and for evaluators
  std::string evaluation_master;  // eval_session_master, or ""
  bool is_chief = true;
  int num_ps_replicas = 0;
  int num_worker_replicas = 1;  // includes the chief
  /// The number of this task: the chief is 0, then come other jobs in the order of their names,
  /// parameter servers last. Unset for an evaluator.
  std::optional<int> global_id_in_cluster = 0;
  std::string model_dir;
};

/// Reads TF_CONFIG. A cluster must have exactly one chief, or one master and then neither chief nor
/// evaluator. The task must have an index and a type of the cluster, or be an evaluator. Without a
/// cluster the task is worker 0. `model_dir` must be TF_CONFIG's if both are given.
/// Throws  InvalidArgumentError for anything else, and for text that cannot be read.
/// Source  tf.estimator.RunConfig, _init_distributed_setting_from_environment_var
RunConfigCluster read_run_config_cluster(const Environment& variables = {},
                                         const std::string& model_dir = "");

}  // namespace distribute

namespace distribute::train {

/// Makes the data, anew for every training and evaluation.
using InputFunction = std::function<InputData()>;

struct EstimatorOptions {  // options of Estimator
  std::string model_dir = {};
  SecondsOrSteps save_checkpoints = {.secs = 600};
  std::optional<int64_t> keep_checkpoint_max = 5;
  SecondsOrSteps save_summary = {.steps = 100};
  /// Steps between the chief's lines about speed and loss; unset: none.
  std::optional<int64_t> log_step_count_steps = 100;
  std::FILE* out = stdout;  // for the chief's lines, which are TensorFlow's; null: none
  /// A checkpoint, or a directory of checkpoints, whose weights a training begins with if it has no
  /// checkpoint of its own. The variables are those whose names begin as the POSIX regular
  /// expression says; the map gives other names in that checkpoint. Source
  /// tf.estimator.WarmStartSettings
  std::string warm_start_from = {};
  std::string vars_to_warm_start = ".*";
  std::map<std::string, std::string> var_name_to_prev_var_name = {};
  SessionReadiness* readiness = nullptr;  // see MonitoredTrainingSession
  std::optional<bool> is_chief = {};      // unset: the strategy decides
  std::function<double()> clock = {};     // in seconds; unset: the system's steady clock
};

/// TensorFlow's name of these options.
/// Source  tf.estimator.RunConfig, whose cluster part the strategy has
using RunConfig = EstimatorOptions;

struct EstimatorTrainOptions {            // options of Estimator::train
  std::optional<int64_t> steps = {};      // number of steps of this call
  std::optional<int64_t> max_steps = {};  // number of steps of all calls and workers together
  std::vector<SessionHookHandle> hooks = {};
  std::vector<Handle<CheckpointSaverListener>> saving_listeners = {};
};

struct EstimatorEvaluateOptions {     // options of Estimator::evaluate
  std::optional<int64_t> steps = {};  // unset: all data
  /// Hooks around each batch, which see the figures so far; global_step is the checkpoint's.
  std::vector<SessionHookHandle> hooks = {};
  std::string name = {};             // name of the run, used by eval_dir(name)
  std::string checkpoint_path = {};  // empty: the newest checkpoint
};

struct EstimatorPredictOptions {              // options of Estimator::predict
  std::vector<SessionHookHandle> hooks = {};  // called around each batch, without figures
  std::string checkpoint_path = {};           // empty: the newest checkpoint
};

struct EstimatorExportOptions {        // options of Estimator::export_saved_model
  saved_model::SaveOptions save = {};  // its input replaces a serving_input_receiver_fn
  std::string checkpoint_path = {};    // empty: the newest checkpoint
};

/// Trains, evaluates and exports a train::Model, which takes the place of a model function:
/// train_step, test_step and predict_step of the model are what ModeKeys.TRAIN, EVAL and PREDICT
/// select. Checkpoints are MODEL_DIR/model.ckpt-<step> with the parts "model" and "optimizer". The
/// rules for threads and workers are those of the model and the session.
/// Source  tf.estimator.Estimator
class Estimator {
 public:
  /// `model` must be compiled and outlive the estimator.
  /// Throws  InvalidArgumentError without a directory.
  Estimator(Model& model, EstimatorOptions options);

  /// Trains until the data ends or the steps are done; it continues from the newest checkpoint.
  /// Throws  InvalidArgumentError if both steps and max_steps are given, or one is below 1, and for
  ///         a bad regular expression; for a warm start what load_weights throws.
  void train(const InputFunction& input_fn, const EstimatorTrainOptions& options = {});
  /// Evaluates the weights of a checkpoint. The model has these weights only during the call, and
  /// servers do not see them, so that other workers go on training. The figures include
  /// "global_step", and are written for TensorBoard. A hook may end the evaluation early.
  /// Throws  NotFoundError when there is no checkpoint; InvalidArgumentError for steps below 1, and
  ///         for data without examples.
  Logs evaluate(const InputFunction& input_fn, const EstimatorEvaluateOptions& options = {});
  /// Predicts for all examples, on every worker, with the weights of a checkpoint, which the model
  /// has only during the call. A hook may end it early.
  /// Shapes  [examples, ...]
  /// Throws  NotFoundError when there is no checkpoint; InvalidArgumentError for data that is
  ///         divided among the replicas already: predictions have the order of the data.
  Tensor predict(const InputFunction& input_fn, const EstimatorPredictOptions& options = {});
  /// Writes a checkpoint's weights to EXPORT_DIR_BASE/<seconds since 1970>, where TensorFlow
  /// Serving looks for versions, and returns that path. The model has the weights only during the
  /// call. Every worker calls it.
  /// Throws  NotFoundError when there is no checkpoint; what saved_model::save() throws.
  std::string export_saved_model(const std::string& export_dir_base,
                                 const EstimatorExportOptions& options = {});

  /// Returns the newest checkpoint of model_dir.
  std::optional<std::string> latest_checkpoint() const;
  /// Give the names of the variables in the newest checkpoint, and the value of one variable.
  /// Throw  NotFoundError when there is no checkpoint or no such variable; InvalidArgumentError for
  ///        a name that two variables have; what BundleReader throws.
  std::vector<std::string> get_variable_names() const;
  Tensor get_variable_value(const std::string& name) const;
  const std::string& model_dir() const { return options_.model_dir; }
  /// Returns the directory of the figures of evaluations with that name: MODEL_DIR/eval, or
  /// MODEL_DIR/eval_<name>.
  std::string eval_dir(const std::string& name = "") const;

  /// Returns the model that it was made with.
  Model& model() const { return model_; }
  const EstimatorOptions& options() const { return options_; }

 private:
  /// Gives the path `given`, or the path of the newest checkpoint.
  std::string checkpoint_to_read(const std::string& given) const;
  void restore(const std::string& checkpoint);
  /// Writes a line to `out`, if this is the chief.
  void tell(const std::string& line) const;
  /// Returns whether the chief's newest checkpoint has that many steps. It is false in jobs whose
  /// workers share variables, since the workers wait for the chief to restore these.
  bool has_trained(int64_t max_steps) const;
  void warm_start();
  void write_figures(const Logs& figures, int64_t step, const std::string& name) const;
  /// Holds the options of a session that runs hooks, and neither restores nor saves anything.
  MonitoredTrainingSessionOptions session_of_hooks(const std::vector<SessionHookHandle>& hooks,
                                                   const std::string& checkpoint) const;

  Model& model_;
  EstimatorOptions options_;
};

}  // namespace distribute::train
