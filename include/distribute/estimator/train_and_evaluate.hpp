#pragma once
/// train_and_evaluate with its specs and exporters.

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
  /// What the exporters gave after the last evaluation; nothing for one that wrote nothing.
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

struct ExporterOptions {  // of exporters
  std::string name;       // of the directory below MODEL_DIR/export
  saved_model::SaveOptions save = {};
  int64_t exports_to_keep = 5;  // the newest; 0: all
};

/// Each is a train::Exporter: EvalSpec{.exporters = {FinalExporter({.name = "serving"})}}. They
/// write MODEL_DIR/export/<name>/<seconds since 1970>, as TensorFlow Serving looks for versions;
/// every worker calls them, and the chief's stays. They give back the path, or nothing where they
/// wrote nothing.
/// Throws  InvalidArgumentError for an empty name, or fewer than 0 exports to keep, and
///         FailedPreconditionError without <distribute/saved_model.hpp>, when it is made; later
///         what Estimator::export_saved_model throws.

/// Once, at the end.
/// Source  tf.estimator.FinalExporter
class FinalExporter {
 public:
  explicit FinalExporter(ExporterOptions options);
  std::optional<std::string> operator()(Estimator& estimator, const std::string& checkpoint_path,
                                        const Logs& eval_result, bool is_final) const;

 private:
  ExporterOptions options_;
};

/// After every evaluation; removes all but the newest.
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
/// Throws  InvalidArgumentError when one of them has no "loss".
bool loss_smaller(const Logs& best, const Logs& current);

struct BestExporterOptions {  // options of BestExporter
  std::string name = "best_exporter";
  saved_model::SaveOptions save = {};
  CompareEvaluations compare = loss_smaller;
  int64_t exports_to_keep = 5;
  std::string eval_name = {};  // EvalSpec::name, whose event files tell of earlier runs
};

/// After evaluations that are the best so far, those of earlier runs included.
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
