#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/estimator/detail/log_lines.hpp>
#include <distribute/estimator/detail/saved_versions.hpp>
#include <distribute/estimator/train_and_evaluate.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/nn/module_saver.hpp>
#include <distribute/summary/event.hpp>

#include <map>
#include <utility>
#include <vector>

namespace distribute::train_internal {

/// Prints a line of the chief.
DISTRIBUTE_INLINE void tell(const train::Estimator& estimator, const std::string& line) {
  if (estimator.model().is_chief()) print_line(estimator.options().out, line);
}

DISTRIBUTE_INLINE void check_exporter(const std::string& name, int64_t exports_to_keep) {
  if (name.empty() || name.find('/') != std::string::npos)
    throw InvalidArgumentError(
        str_cat("an exporter's name must be that of a directory, got '", name, "'"));
  if (exports_to_keep < 0)
    throw InvalidArgumentError(
        str_cat("exports_to_keep must be at least 0, which keeps all; it is ", exports_to_keep));
  nn::check_module_saver("export/" + name);
}

/// Exports and returns the path; removes all but the newest `keep` exports, unless that is 0.
DISTRIBUTE_INLINE std::string export_version(train::Estimator& estimator, const std::string& name,
                                             const train::EstimatorExportOptions& options,
                                             int64_t keep) {
  const std::string directory = io::join_path(io::join_path(estimator.model_dir(), "export"), name);
  const std::string path = estimator.export_saved_model(directory, options);
  if (!estimator.model().is_chief() || keep == 0) return path;
  const std::vector<std::string> versions = saved_versions(directory);
  for (size_t i = 0; i + size_t(keep) < versions.size(); ++i)
    throw_if_error(io::remove_recursively(io::join_path(directory, versions[i])));
  return path;
}

/// Reads the results of evaluations by step from one file of events, up to the first damage.
DISTRIBUTE_INLINE void read_evaluations(const std::string& path,
                                        std::map<int64_t, train::Logs>& by_step) {
  auto reader = value_or_throw(io::RecordReader::open(path));
  std::string record;
  for (auto more = reader.next(record); more.ok() && *more; more = reader.next(record))
    for (const summary::Event event = summary::decode_event(record, path);
         const auto& entry : event.entries)
      if (entry.has_number) by_step[event.step].set(entry.tag, entry.number);
}

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE FinalExporter::FinalExporter(ExporterOptions options)
    : options_(std::move(options)) {
  train_internal::check_exporter(options_.name, options_.exports_to_keep);
}

DISTRIBUTE_INLINE std::optional<std::string> FinalExporter::operator()(
    Estimator& estimator, const std::string& checkpoint_path, const Logs&, bool is_final) const {
  if (!is_final) return std::nullopt;
  train_internal::tell(estimator, "Performing the final export in the end of training.");
  return train_internal::export_version(
      estimator, options_.name, {.save = options_.save, .checkpoint_path = checkpoint_path}, 0);
}

DISTRIBUTE_INLINE LatestExporter::LatestExporter(ExporterOptions options)
    : options_(std::move(options)) {
  train_internal::check_exporter(options_.name, options_.exports_to_keep);
}

DISTRIBUTE_INLINE std::optional<std::string> LatestExporter::operator()(
    Estimator& estimator, const std::string& checkpoint_path, const Logs&, bool) const {
  return train_internal::export_version(estimator, options_.name,
                                        {.save = options_.save, .checkpoint_path = checkpoint_path},
                                        options_.exports_to_keep);
}

DISTRIBUTE_INLINE bool loss_smaller(const Logs& best, const Logs& current) {
  const double *before = best.find("loss"), *now = current.find("loss");
  if (!before || !now)
    throw InvalidArgumentError(
        "BestExporter: an evaluation has no figure called loss; compile a "
        "loss, or give another compare");
  return *now < *before;
}

DISTRIBUTE_INLINE BestExporter::BestExporter(BestExporterOptions options)
    : options_(std::move(options)) {
  train_internal::check_exporter(options_.name, options_.exports_to_keep);
}

DISTRIBUTE_INLINE void BestExporter::read_earlier(const Estimator& estimator,
                                                  const Logs& eval_result) {
  const std::string directory = estimator.eval_dir(options_.eval_name);
  io::FileSystem& files = *value_or_throw(io::file_system_for(directory));
  std::map<int64_t, Logs> earlier;
  if (value_or_throw(files.exists(directory)))
    for (const std::string& name : value_or_throw(files.list_directory(directory)))
      if (name.find("tfevents") != std::string::npos)
        train_internal::read_evaluations(io::join_path(directory, name), earlier);
  // The file also contains this evaluation.
  if (const double* step = eval_result.find("global_step")) earlier.erase(int64_t(*step));
  for (const auto& [step, result] : earlier)
    if (!best_ || options_.compare(*best_, result)) best_ = result;
}

DISTRIBUTE_INLINE std::optional<std::string> BestExporter::operator()(
    Estimator& estimator, const std::string& checkpoint_path, const Logs& eval_result, bool) {
  if (!std::exchange(has_read_, true)) {
    train_internal::tell(estimator, "Loading best metric from event files.");
    read_earlier(estimator, eval_result);
  }
  if (best_ && !options_.compare(*best_, eval_result)) return std::nullopt;
  train_internal::tell(estimator, "Performing best model export.");
  best_ = eval_result;
  return train_internal::export_version(estimator, options_.name,
                                        {.save = options_.save, .checkpoint_path = checkpoint_path},
                                        options_.exports_to_keep);
}

}  // namespace distribute::train
