#pragma once
/// Exporters of train_and_evaluate: SavedModels of the weights that were evaluated.

#include <distribute/base/config.hpp>
#include <distribute/estimator/estimator.hpp>
#include <distribute/saved_model/saved_model.hpp>
#include <distribute/train/logs.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace distribute::train {

struct ExporterOptions {  // of exporters
  std::string name;       // of the directory below MODEL_DIR/export
  saved_model::SaveOptions save = {};
  int64_t exports_to_keep = 5;  // the newest; 0: all
};

/// Each is a train::Exporter: EvalSpec{.exporters = {FinalExporter({.name = "serving"})}}. They
/// write MODEL_DIR/export/<name>/<seconds since 1970>, as TensorFlow Serving looks for versions;
/// every worker calls them, and the chief's stays. They give back the path, or nothing where they
/// wrote nothing.
/// Throws  InvalidArgumentError for an empty name, or fewer than 0 exports to keep; what
///         Estimator::export_saved_model throws.

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
