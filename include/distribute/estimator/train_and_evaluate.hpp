#pragma once
/// One program for every task of a job: trains, evaluates or serves, as TF_CONFIG says.

#include <distribute/base/config.hpp>
#include <distribute/estimator/estimator.hpp>
#include <distribute/estimator/run_config_cluster.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace distribute::train {

/// What train_and_evaluate() trains with. Source  tf.estimator.TrainSpec
struct TrainSpec {
  InputFunction input_fn;
  std::optional<int64_t> max_steps = {};  // none: until the data ends
  std::vector<SessionHookHandle> hooks = {};
  std::vector<Handle<CheckpointSaverListener>> saving_listeners = {};
};

/// Does something with a checkpoint that was evaluated, such as an export; gives back where
/// to, if it did. `is_final`: there will be no further one.
/// Source  tf.estimator.Exporter
using Exporter = std::function<std::optional<std::string>(
    Estimator&, const std::string& checkpoint_path, const Logs& eval_result, bool is_final)>;

/// What train_and_evaluate() evaluates with. Source  tf.estimator.EvalSpec
struct EvalSpec {
  InputFunction input_fn;
  std::optional<int64_t> steps = 100;  // batches of an evaluation; none: all data
  std::string name = {};
  std::vector<SessionHookHandle> hooks = {};  // as of Estimator::evaluate
  std::vector<Exporter> exporters = {};
  double start_delay_secs = 120;  // of the evaluator
  double throttle_secs = 600;     // between the beginnings of two evaluations
};

struct TrainAndEvaluateOptions {       // options of train_and_evaluate()
  RunConfigCluster cluster = {};       // read_run_config_cluster() reads TF_CONFIG
  std::function<void()> run_ps = {};   // serves as parameter server until the job ends
  double max_worker_delay_secs = 60;   // worker i waits min(this, 5 (i + 1)) seconds
  bool workers_step_together = false;  // as in MultiWorkerMirroredStrategy: all start at once
  std::function<void(double seconds)> sleep = {};  // unset: the thread sleeps
};

struct TrainAndEvaluateResult {  // the last figures and exports
  Logs eval_result = {};         // of the last evaluation here; empty where there was none
  int64_t evaluations = 0;
  /// Of the exporters, after the last evaluation; nothing for one that wrote nothing.
  std::vector<std::optional<std::string>> export_results = {};
};

/// Without a cluster: trains, evaluates after checkpoints but the first, and at the end. In a
/// cluster the chief and the workers train, the master also evaluates, the evaluator evaluates new
/// checkpoints until max_steps, a ps serves.
/// Throws  InvalidArgumentError for specs that make no sense, for tasks that do not exist, and for
///         an evaluator other than 0; UnimplementedError for a ps without run_ps.
/// Source  tf.estimator.train_and_evaluate
TrainAndEvaluateResult train_and_evaluate(Estimator& estimator, const TrainSpec& train_spec,
                                          const EvalSpec& eval_spec,
                                          const TrainAndEvaluateOptions& options = {});

}  // namespace distribute::train
