#pragma once
#include <distribute/base/detail/type_names.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cuda_activity.hpp>
#include <distribute/device/detail/cuda_state.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace distribute::device_internal {

struct GpuSpan {
  uint32_t device, stream;
  uint64_t start, end;
  std::string name;
};

/// The rows of one recorder, and the time up to which each row is used.
struct GpuRows {
  struct Row {
    int number;
    uint64_t end;
  };
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Row>> of_stream;

  int take(monitoring::SpanRecorder& recorder, const GpuSpan& span);
};

struct GpuActivity {
  std::mutex mutex;  // guards all below
  CuptiTable table;
  std::optional<std::string> problem = {};  // none: CUPTI was not asked yet
  bool is_of_test = false;
  std::weak_ptr<monitoring::SpanRecorder> recorder;
  GpuRows rows;
};
DISTRIBUTE_INLINE GpuActivity& gpu_activity() { return in_process<GpuActivity>(); }

/// Chooses the row of a span. Spans of a row do not overlap: kernels that run at the same time in
/// one stream's graph get rows of their own.
DISTRIBUTE_INLINE int GpuRows::take(monitoring::SpanRecorder& recorder, const GpuSpan& span) {
  auto& rows = of_stream[{span.device, span.stream}];
  for (Row& row : rows)
    if (row.end <= span.start) return row.end = span.end, row.number;
  std::string name = str_cat("GPU ", span.device, " stream ", span.stream);
  if (!rows.empty()) name += str_cat(" (", rows.size() + 1, ")");
  rows.push_back({recorder.add_row(std::move(name)), span.end});
  return rows.back().number;
}

/// Gives a C++ name as it is in the source.
DISTRIBUTE_INLINE std::string readable_name(const char* name) {
  constexpr size_t kMost = 160;  // names of templates can be long
  if (!name) return "kernel";
  std::string text = base_internal::readable_type(name);
  if (text.size() > kMost) text.replace(kMost - 3, text.npos, "...");
  return text;
}

DISTRIBUTE_INLINE std::string name_of_memory(const CuptiMemory& record) {
  const char* what = "copy";
  if (record.kind == kCuptiMemset) what = "fill";
  if (record.kind == kCuptiPeerCopy) what = "copy between GPUs";
  if (record.kind == kCuptiMemcpy) switch (record.copy_kind) {
      case kCuptiToGpu: what = "copy to the GPU"; break;
      case kCuptiFromGpu: what = "copy from the GPU"; break;
      case kCuptiOnGpu: what = "copy on the GPU"; break;
      case kCuptiBetweenGpus: what = "copy between GPUs"; break;
      default: break;
    }
  return str_cat(what, ", ", record.bytes, " bytes");
}

DISTRIBUTE_INLINE std::optional<GpuSpan> span_of(const CuptiRecord* record) {
  const auto span = [](const auto& r, std::string name) -> std::optional<GpuSpan> {
    if (r.start == 0 || r.end < r.start) return std::nullopt;  // still running, or not measured
    return GpuSpan{r.device, r.stream, r.start, r.end, std::move(name)};
  };
  switch (record->kind) {
    case kCuptiKernel: {
      const auto& kernel = *reinterpret_cast<const CuptiKernel*>(record);
      return span(kernel, readable_name(kernel.name));
    }
    case kCuptiMemcpy:
    case kCuptiMemset:
    case kCuptiPeerCopy: {
      const auto& memory = *reinterpret_cast<const CuptiMemory*>(record);
      return span(memory, name_of_memory(memory));
    }
    default: return std::nullopt;
  }
}

/// The difference between CUPTI's nanoseconds and the host's clock. Of several readings the
/// shortest is the most exact.
DISTRIBUTE_INLINE monitoring::SpanRecorder::Clock::duration clock_offset(const CuptiTable& table) {
  using Clock = monitoring::SpanRecorder::Clock;
  Clock::duration best = Clock::duration::max(), offset{};
  for (int i = 0; i < 5; ++i) {
    uint64_t gpu = 0;
    const auto before = Clock::now();
    table.cuptiGetTimestamp(&gpu);
    const auto after = Clock::now();
    if (after - before >= best) continue;
    best = after - before;
    offset = before.time_since_epoch() + best / 2 - std::chrono::nanoseconds(gpu);
  }
  return offset;
}

DISTRIBUTE_INLINE void add_spans(std::vector<GpuSpan> spans) {
  GpuActivity& activity = gpu_activity();
  const std::lock_guard lock(activity.mutex);
  const auto recorder = activity.recorder.lock();
  if (!recorder || spans.empty()) return;
  std::stable_sort(spans.begin(), spans.end(),
                   [](const GpuSpan& a, const GpuSpan& b) { return a.start < b.start; });
  const auto offset = clock_offset(activity.table);
  const auto host = [&](uint64_t time) {
    return monitoring::SpanRecorder::Clock::time_point(offset + std::chrono::nanoseconds(time));
  };
  for (GpuSpan& span : spans)
    recorder->add(activity.rows.take(*recorder, span), std::move(span.name), host(span.start),
                  host(span.end));
}

/// CUPTI calls it for an empty buffer; a thread of CUPTI's returns full ones. Buffers are aligned
/// to 8 bytes.
DISTRIBUTE_INLINE void give_buffer(uint8_t** buffer, size_t* bytes, size_t* max_records) {
  *bytes = size_t{1} << 20;
  *buffer = static_cast<uint8_t*>(std::malloc(*bytes));
  if (!*buffer) *bytes = 0;
  *max_records = 0;  // no limit
}
DISTRIBUTE_INLINE void take_buffer(CudaHandle, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  const CuptiTable& table = gpu_activity().table;
  std::vector<GpuSpan> spans;
  CuptiRecord* record = nullptr;
  while (valid > 0 && table.cuptiActivityGetNextRecord(buffer, valid, &record) == 0)
    if (auto span = span_of(record)) spans.push_back(std::move(*span));
  std::free(buffer);
  add_spans(std::move(spans));
}

/// Starts recording; the result is empty when CUPTI records, else the reason.
DISTRIBUTE_INLINE std::string begin_cupti(CuptiTable& table, bool is_of_test) {
  const GpuState& gpus = *gpu_state_slot();
  if (!is_of_test) {
    if (!gpus.uses_libraries) return "CUPTI: not used with a test's tables";
    int driver = 0;
    if (gpus.driver_problem.empty()) gpus.driver.cuDriverGetVersion(&driver);
    if (std::string problem = load_cupti(table, driver); !problem.empty()) return problem;
  }
  const auto problem_of = [&](const char* call, int result) {
    const char* words = nullptr;
    table.cuptiGetResultString(result, &words);
    return str_cat("CUPTI: ", call, " gave ", result, words ? ": " : "", words ? words : "");
  };
  if (const int result = table.cuptiActivityRegisterCallbacks(give_buffer, take_buffer))
    return problem_of("cuptiActivityRegisterCallbacks", result);
  for (const int kind : {kCuptiKernel, kCuptiMemcpy, kCuptiPeerCopy, kCuptiMemset})
    if (const int result = table.cuptiActivityEnable(kind))
      return problem_of("cuptiActivityEnable", result);
  return {};
}

DISTRIBUTE_INLINE void record_gpus(const std::shared_ptr<monitoring::SpanRecorder>& recorder) {
  GpuActivity& activity = gpu_activity();
  const std::lock_guard lock(activity.mutex);
  activity.recorder = recorder;
  activity.rows = {};
  if (activity.problem || !gpu_state_slot()->driver_problem.empty()) return;
  activity.problem = begin_cupti(activity.table, activity.is_of_test);
  if (!activity.problem->empty())
    log_info("device", "DISTRIBUTE_TIMELINE has no rows of GPUs: " + *activity.problem);
}

DISTRIBUTE_INLINE void flush_gpu_spans() {
  GpuActivity& activity = gpu_activity();
  const CuptiTable table = [&] {
    const std::lock_guard lock(activity.mutex);
    return activity.problem && activity.problem->empty() ? activity.table : CuptiTable();
  }();
  if (table.cuptiActivityFlushAll) table.cuptiActivityFlushAll(kCuptiFlushAll);
}

DISTRIBUTE_INLINE ScopedCupti::ScopedCupti(const CuptiTable& table) {
  GpuActivity& activity = gpu_activity();
  const std::lock_guard lock(activity.mutex);
  activity.table = table;
  activity.problem.reset();
  activity.is_of_test = true;
}
DISTRIBUTE_INLINE ScopedCupti::~ScopedCupti() {
  GpuActivity& activity = gpu_activity();
  const std::lock_guard lock(activity.mutex);
  activity.problem = "a test's table is gone";
  activity.is_of_test = false;
  activity.recorder.reset();
}

}  // namespace distribute::device_internal
