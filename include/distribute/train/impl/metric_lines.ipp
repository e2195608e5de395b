#pragma once
#include <distribute/base/detail/file_size_signal.hpp>
#include <distribute/base/detail/number_text.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/ordered_json.hpp>
#include <distribute/io/detail/open_output.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/run_report.hpp>

#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>

#include <nlohmann/json.hpp>

namespace distribute::train {

DISTRIBUTE_INLINE std::string metric_line(const Logs& values) {
  std::string line;
  for (const auto& [name, value] : values) {
    if (!std::isfinite(value)) continue;
    if (!line.empty()) line += ' ';
    for (const char c : name)
      line += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '|' ? c : '_';
    line += "=" + base_internal::nine_digits(value);
  }
  return line;
}

/// Appends to the file of the tuner.
DISTRIBUTE_INLINE void append_for_tuner(const std::string& lines) {
  const std::string path =
      Environment()("CLOUD_ML_HP_METRIC_FILE").value_or("/tmp/hypertune/output.metrics");
  std::error_code ignored;
  std::filesystem::create_directories(io::directory_of(path), ignored);
  base_internal::ignore_file_size_signal();
  std::FILE* const file = io_internal::append_to(path);
  const bool written = file && std::fwrite(lines.data(), 1, lines.size(), file) == lines.size();
  const bool closed = file && std::fclose(file) == 0;
  if (!written || !closed)
    throw PermissionDeniedError(
        str_cat("CLOUD_ML_HP_METRIC_FILE: cannot write ", path, ": ", std::strerror(errno)));
}

DISTRIBUTE_INLINE void check_hypertune() {
  if (Environment()("CLOUD_ML_TRIAL_ID")) append_for_tuner("");
}

DISTRIBUTE_INLINE void report_hypertune(const Logs& values, int64_t global_step) {
  const Environment variables;
  const auto trial = variables("CLOUD_ML_TRIAL_ID");
  if (!trial) return;
  const std::string tag = variables("CLOUD_ML_HP_METRIC_TAG").value_or("");
  std::string lines;
  for (const auto& [name, value] : values) {
    if ((!tag.empty() && name != tag) || !std::isfinite(value)) continue;
    const nlohmann::ordered_json line{{"timestamp", double(std::time(nullptr))},
                                      {"trial", *trial},
                                      {name, base_internal::nine_digits(value)},
                                      {"global_step", std::to_string(global_step)}};
    lines += json_text(line) + '\n';
  }
  if (!lines.empty()) append_for_tuner(lines);
}

DISTRIBUTE_INLINE void MetricLines::on_train_begin(Logs&) {
  if (model().is_chief()) check_hypertune();
}

DISTRIBUTE_INLINE void MetricLines::on_epoch_end(int64_t epoch, Logs& logs) {
  if (!model().is_chief()) return;
  const std::string line = metric_line(logs);
  if (!line.empty()) std::fprintf(out_, "%s\n", line.c_str());
  std::fflush(out_);
  report_hypertune(logs, epoch + 1);
}

}  // namespace distribute::train
