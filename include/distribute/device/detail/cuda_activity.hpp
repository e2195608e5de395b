#pragma once
/// What GPUs do, as spans of DISTRIBUTE_TIMELINE: a row for each stream, by CUPTI.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/span_recorder.hpp>
#include <distribute/device/detail/cuda_cupti.hpp>

#include <memory>
#include <string>

namespace distribute::device_internal {

/// Kernels, copies and fills of all GPUs of the process are spans of `recorder` from now on, while
/// it lives. Without CUPTI, or where that refuses, one line of the log says so. Thread-safe.
void record_gpus(const std::shared_ptr<monitoring::SpanRecorder>& recorder);
/// Adds what GPUs have done so far; what is still under way is left out.
void flush_gpu_spans();

/// For tests: while it lives, CUPTI is this table, and nothing is recorded yet. Not thread-safe.
class [[nodiscard]] ScopedCupti {
 public:
  explicit ScopedCupti(const CuptiTable& table);
  ~ScopedCupti();
  ScopedCupti(const ScopedCupti&) = delete;
  ScopedCupti& operator=(const ScopedCupti&) = delete;
};

}  // namespace distribute::device_internal
