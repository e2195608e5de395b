#pragma once
/// train_and_evaluate() with its specs and exporters.

#include <distribute/base/config.hpp>
#include <distribute/estimator/estimator.hpp>
#include <distribute/saved_model/saved_model.hpp>
#include <distribute/train/callback.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace distribute::train {

/// How train_and_evaluate() trains. Source  tf.estimator.TrainSpec
struct TrainSpec {
  InputFunction input_fn;
  std::optional<int64_t> max_steps = {};  // unset: until the data ends
  std::vector<SessionHookHandle> hooks = {};
  std::vector<Handle<CheckpointSaverListener>> saving_listeners = {};
};

/// Uses a checkpoint that was evaluated, for instance for an export, and returns the path that it
/// wrote, if any. `is_final` says that no further call follows.
/// Source  tf.estimator.Exporter
using Exporter = std::function<std::optional<std::string>(
    Estimator&, const std::string& checkpoint_path, const Logs& eval_result, bool is_final)>;

/// How train_and_evaluate() evaluates. Source  tf.estimator.EvalSpec
struct EvalSpec {
  InputFunction input_fn;
  std::optional<int64_t> steps = 100;  // batches of an evaluation; unset: all data
  std::string name = {};
  std::vector<SessionHookHandle> hooks = {};  // see Estimator::evaluate
  std::vector<Exporter> exporters = {};
  double start_delay_secs = 120;  // delay before the evaluator's first evaluation
  double throttle_secs = 600;     // least time between the beginnings of two evaluations
};

struct TrainAndEvaluateOptions {       // options of train_and_evaluate()
  RunConfigCluster cluster = {};       // read_run_config_cluster() reads TF_CONFIG
  std::function<void()> run_ps = {};   // serves as a parameter server until the job ends
  double max_worker_delay_secs = 60;   // worker i waits min(this, 5 (i + 1)) seconds
  bool workers_step_together = false;  // as in MultiWorkerMirroredStrategy; all then start at once
  std::function<void(double seconds)> sleep = {};  // unset: the thread sleeps
};

struct TrainAndEvaluateResult {  // the last figures and exports
  Logs eval_result = {};         // of the last evaluation in this task; empty without one
  int64_t evaluations = 0;
  /// Results of the exporters after the last evaluation; empty for an exporter that wrote nothing.
  std::vector<std::optional<std::string>> export_results = {};
};

/// Without a cluster it trains, evaluates after every checkpoint but the first, and again at the
/// end. In a cluster the chief and the workers train, a master also evaluates, an evaluator
/// evaluates new checkpoints until max_steps, and a ps serves.
/// Throws  InvalidArgumentError for contradictory specs, for tasks that do not exist, and for an
///         evaluator other than 0; UnimplementedError for a ps without run_ps.
/// Source  tf.estimator.train_and_evaluate
TrainAndEvaluateResult train_and_evaluate(Estimator& estimator, const TrainSpec& train_spec,
                                          const EvalSpec& eval_spec,
                                          const TrainAndEvaluateOptions& options = {});

struct ExporterOptions {  // options of exporters
  std::string name;       // name of the directory below MODEL_DIR/export
  saved_model::SaveOptions save = {};
  int64_t exports_to_keep = 5;  // number of newest exports that stay; 0: all
};

/// Each of these classes is a train::Exporter: EvalSpec{.exporters = {FinalExporter({.name =
/// "serving"})}}. They write MODEL_DIR/export/<name>/<seconds since 1970>, where TensorFlow Serving
/// looks for versions. Every worker calls them, and the chief's export is kept. They return the
/// path, or nothing when they wrote nothing.
/// Throws  InvalidArgumentError for an empty name, or fewer than 0 exports to keep, and
///         FailedPreconditionError without <distribute/saved_model.hpp>, when it is made; later
///         what Estimator::export_saved_model throws.

/// Exports once, at the end.
/// Source  tf.estimator.FinalExporter
class FinalExporter {
 public:
  explicit FinalExporter(ExporterOptions options);
  std::optional<std::string> operator()(Estimator& estimator, const std::string& checkpoint_path,
                                        const Logs& eval_result, bool is_final) const;

 private:
  ExporterOptions options_;
};

/// Exports after every evaluation, and removes all but the newest exports.
/// Source  tf.estimator.LatestExporter
class LatestExporter {
 public:
  explicit LatestExporter(ExporterOptions options);
  std::optional<std::string> operator()(Estimator& estimator, const std::string& checkpoint_path,
                                        const Logs& eval_result, bool is_final) const;

 private:
  ExporterOptions options_;
};

/// Whether `current` is better than `best`.
using CompareEvaluations = std::function<bool(const Logs& best, const Logs& current)>;
/// Returns whether the "loss" of `current` is smaller than that of `best`.
/// Throws  InvalidArgumentError when one of them has no "loss".
bool loss_smaller(const Logs& best, const Logs& current);

struct BestExporterOptions {  // options of BestExporter
  std::string name = "best_exporter";
  saved_model::SaveOptions save = {};
  CompareEvaluations compare = loss_smaller;
  int64_t exports_to_keep = 5;
  std::string eval_name = {};  // EvalSpec::name; its event files have results of earlier runs
};

/// Exports after evaluations that are the best so far, including those of earlier runs.
/// Source  tf.estimator.BestExporter
class BestExporter {
 public:
  explicit BestExporter(BestExporterOptions options);
  std::optional<std::string> operator()(Estimator& estimator, const std::string& checkpoint_path,
                                        const Logs& eval_result, bool is_final);

 private:
  void read_earlier(const Estimator& estimator, const Logs& eval_result);

  BestExporterOptions options_;
  bool has_read_ = false;
  std::optional<Logs> best_;
};

}  // namespace distribute::train
