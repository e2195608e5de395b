#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/path.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/summary/event.hpp>
#include <distribute/train/exporters.hpp>

#include <algorithm>
#include <ctime>
#include <map>
#include <utility>
#include <vector>

namespace distribute::train_internal {

DISTRIBUTE_INLINE void check_exporter(const std::string& name, int64_t exports_to_keep) {
  if (name.empty() || name.find('/') != std::string::npos)
    throw InvalidArgumentError(
        concat("an exporter's name must be that of a directory, got '", name, "'"));
  if (exports_to_keep < 0)
    throw InvalidArgumentError(
        concat("exports_to_keep must be at least 0, which keeps all; it is ", exports_to_keep));
}

/// Names of digits, as numbers.
DISTRIBUTE_INLINE std::vector<std::string> versions_in(io::FileSystem& files,
                                                       const std::string& directory) {
  std::vector<std::string> versions;
  if (!value_or_throw(files.exists(directory))) return versions;
  for (const std::string& name : value_or_throw(files.list_directory(directory)))
    if (name.find_first_not_of("0123456789") == std::string::npos) versions.push_back(name);
  std::sort(versions.begin(), versions.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return versions;
}

DISTRIBUTE_INLINE void export_version(train::Estimator& estimator, const std::string& name,
                                      const saved_model::SaveOptions& save, int64_t keep) {
  const std::string directory =
      io::join_path(io::join_path(estimator.options().model_dir, "export"), name);
  io::FileSystem& files = *value_or_throw(io::file_system_for(directory));
  int64_t version = int64_t(std::time(nullptr));
  std::vector<std::string> versions = versions_in(files, directory);
  // Two exports within one second, or a clock that was put back.
  if (!versions.empty()) version = std::max<int64_t>(version, std::stoll(versions.back()) + 1);
  estimator.model().save(io::join_path(directory, std::to_string(version)), save);
  if (!estimator.model().is_chief() || keep == 0) return;
  versions.push_back(std::to_string(version));
  for (size_t i = 0; i + size_t(keep) < versions.size(); ++i)
    throw_if_error(io::remove_recursively(io::join_path(directory, versions[i])));
}

/// The results of evaluations by step, from one file of events; what follows damage is left out.
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

DISTRIBUTE_INLINE void FinalExporter::operator()(Estimator& estimator, const std::string&,
                                                 const Logs&, bool is_final) const {
  if (is_final) train_internal::export_version(estimator, options_.name, options_.save, 0);
}

DISTRIBUTE_INLINE LatestExporter::LatestExporter(ExporterOptions options)
    : options_(std::move(options)) {
  train_internal::check_exporter(options_.name, options_.exports_to_keep);
}

DISTRIBUTE_INLINE void LatestExporter::operator()(Estimator& estimator, const std::string&,
                                                  const Logs&, bool) const {
  train_internal::export_version(estimator, options_.name, options_.save, options_.exports_to_keep);
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

DISTRIBUTE_INLINE void BestExporter::operator()(Estimator& estimator, const std::string&,
                                                const Logs& eval_result, bool) {
  if (!std::exchange(has_read_, true)) {
    const std::string run = options_.eval_name.empty() ? "eval" : "eval_" + options_.eval_name;
    const std::string directory = io::join_path(estimator.options().model_dir, run);
    io::FileSystem& files = *value_or_throw(io::file_system_for(directory));
    std::map<int64_t, Logs> earlier;
    if (value_or_throw(files.exists(directory)))
      for (const std::string& name : value_or_throw(files.list_directory(directory)))
        if (name.find("tfevents") != std::string::npos)
          train_internal::read_evaluations(io::join_path(directory, name), earlier);
    // The file tells of this evaluation as well.
    if (const double* step = eval_result.find("global_step")) earlier.erase(int64_t(*step));
    for (const auto& [step, result] : earlier)
      if (!best_ || options_.compare(*best_, result)) best_ = result;
  }
  if (best_ && !options_.compare(*best_, eval_result)) return;
  best_ = eval_result;
  train_internal::export_version(estimator, options_.name, options_.save, options_.exports_to_keep);
}

}  // namespace distribute::train
