#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/base/ordered_json.hpp>
#include <distribute/base/status.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/device/device_spec.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/run_report.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <unistd.h>
#include <nlohmann/json.hpp>

namespace distribute::train {

DISTRIBUTE_INLINE void add_speed(RunReport& report, const Progress& progress) {
  report.images_per_second = progress.examples_per_second();
  report.step_ms_p50 = progress.step_seconds(0.5) * 1e3;
  report.step_ms_p95 = progress.step_seconds(0.95) * 1e3;
}

DISTRIBUTE_INLINE void add_device(RunReport& report, const Strategy& strategy) {
  const std::string first = strategy.extended().worker_devices().front();
  report.device = DeviceSpec::from_string(first).device_type == "GPU" ? "gpu" : "cpu";
}

DISTRIBUTE_INLINE void add_memory(RunReport& report, const Strategy& strategy) {
  report.peak_rss_bytes = peak_rss_bytes();
  report.peak_gpu_bytes = 0;
  for (const std::string& name : strategy.extended().worker_devices())
    if (const DeviceSpec spec = DeviceSpec::from_string(name); spec.device_type == "GPU")
      report.peak_gpu_bytes += memory_info({DeviceType::Gpu, spec.device_index.value_or(0)}).peak;
}

DISTRIBUTE_INLINE std::string to_json(const RunReport& r) {
  using Json = nlohmann::ordered_json;
  const auto number_or_null = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  Json object{{"strategy", r.strategy},
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
  if (r.test_perplexity) object["test_perplexity"] = *r.test_perplexity;
  if (r.tokens_per_second) object["tokens_per_second"] = *r.tokens_per_second;
  if (r.input_wait_share) object["input_wait_share"] = *r.input_wait_share;
  return json_text(object, 2) + "\n";
}

DISTRIBUTE_INLINE ReportTarget::ReportTarget(std::string path)
    : path_(std::move(path)), stdout_(nullptr, &std::fclose) {
  if (path_ != "-") return;
  std::fflush(stdout);
  const int copy = ::dup(STDOUT_FILENO);
  if (copy < 0) return;  // as it was, then
  stdout_.reset(::fdopen(copy, "w"));
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

DISTRIBUTE_INLINE ReportTarget::~ReportTarget() {
  if (!stdout_) return;
  std::fflush(stdout);
  ::dup2(::fileno(stdout_.get()), STDOUT_FILENO);
}

DISTRIBUTE_INLINE void ReportTarget::write(const RunReport& report) {
  const std::string text = to_json(report);
  if (path_ == "-") {
    std::FILE* const out = stdout_ ? stdout_.get() : stdout;
    if (std::fputs(text.c_str(), out) >= 0 && std::fflush(out) == 0) return;
    throw DataLossError(
        str_cat("cannot write the report to standard output: ", std::strerror(errno)));
  }
  throw_if_error(io::write_file_atomically(path_, text));
}

}  // namespace distribute::train
