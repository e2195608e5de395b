#include "run_report.hpp"

#include "process_stats.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/atomic_file.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/path.hpp>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <unistd.h>
#include <nlohmann/json.hpp>

namespace examples {

namespace {

/// Whole or not at all; a pipe or a terminal takes what comes.
void write_text(const std::string& path, const std::string& text) {
  if (!std::filesystem::exists(path) || std::filesystem::is_regular_file(path))
    return distribute::throw_if_error(distribute::io::write_file_atomically(path, text));
  std::ofstream file(path);
  file << text << std::flush;
  if (!file)
    throw distribute::PermissionDeniedError(distribute::str_cat("cannot write --json=", path));
}

}  // namespace

namespace {

/// Where --json goes; nothing else does.
std::FILE*& json_output() {
  static std::FILE* file = nullptr;
  return file;
}

}  // namespace

void keep_stdout_for_json() {
  std::fflush(stdout);
  const int copy = dup(STDOUT_FILENO);
  if (copy < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return;  // as it was, then
  json_output() = fdopen(copy, "w");
}

void write_json(const RunReport& r, const std::string& target) {
  const auto number_or_null = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json object{{"strategy", r.strategy},
                                {"device", r.device},
                                {"replicas", r.replicas},
                                {"workers", r.workers},
                                {"policy", r.policy},
                                {"global_batch", r.global_batch},
                                {"steps", r.steps},
                                {"images_per_second", r.images_per_second},
                                {"step_ms_p50", r.step_ms_p50},
                                {"step_ms_p95", r.step_ms_p95},
                                {"seconds_to_first_step", r.seconds_to_first_step},
                                {"loss", r.loss},
                                {"test_loss", number_or_null(r.test_loss)},
                                {"test_accuracy", number_or_null(r.test_accuracy)},
                                {"parameters", r.parameters},
                                {"peak_rss_bytes", r.peak_rss_bytes},
                                {"peak_gpu_bytes", r.peak_gpu_bytes}};
  if (r.test_top_5_accuracy) object["test_top_5_accuracy"] = *r.test_top_5_accuracy;
  if (r.input_wait_share) object["input_wait_share"] = *r.input_wait_share;
  const std::string text = distribute::json_text(object, 2) + "\n";
  if (target == "-") {
    std::FILE* const out = json_output() ? json_output() : stdout;
    std::fputs(text.c_str(), out);
    std::fflush(out);
    return;
  }
  write_text(target, text);
}

void require_writable(const char* flag, const std::string& path) {
  if (path.find("://") != std::string::npos) return;  // a store says so when it is written
  const size_t end = path.find_last_not_of('/');      // of a directory's name
  const size_t slash = path.rfind('/', end);
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  require_writable_directory(flag, path, directory);
}

void require_writable_directory(const char* flag, const std::string& path,
                                const std::string& directory) {
  if (access(directory.c_str(), W_OK) == 0) return;
  throw distribute::PermissionDeniedError(
      distribute::str_cat("--", flag, "=", path, ": directory ", directory,
                          " cannot be written: ", std::generic_category().message(errno)));
}

void require_writable_store(const char* flag, const std::string& path,
                            const std::string& directory) {
  namespace io = distribute::io;
  if (path.find("://") == std::string::npos) return;
  const std::string probe = io::join_path(directory, "probe" + std::to_string(getpid()));
  absl::Status status = io::write_file_atomically(probe, "may this task write here?\n");
  if (status.ok()) status = (*io::file_system_for(probe))->remove_file(probe);
  if (!status.ok())
    distribute::throw_if_error(absl::Status(
        status.code(), distribute::str_cat("--", flag, "=", path, ": ", status.message())));
}

Progress::Progress(int64_t first_step, int64_t total_steps, int64_t global_batch, bool prints)
    : progress_({.first_step = first_step,
                 .total_steps = total_steps,
                 .batch_size = global_batch,
                 .prints = prints}) {}

void Progress::step_done(int64_t step, double loss) {
  if (progress_.steps_timed() == 0) first_step_seconds_ = seconds_since_process_start();
  progress_.step_done(step, {{"loss", loss}});
}

void Progress::fill(RunReport& report) const {
  report.images_per_second = progress_.examples_per_second();
  report.step_ms_p50 = progress_.step_seconds(0.5) * 1e3;
  report.step_ms_p95 = progress_.step_seconds(0.95) * 1e3;
  report.seconds_to_first_step = first_step_seconds_;
}

}  // namespace examples
