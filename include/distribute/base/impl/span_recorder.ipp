#pragma once
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/base/span_recorder.hpp>

#include <cstdlib>
#include <map>
#include <mutex>

namespace distribute::monitoring {

struct SpanRecorders {
  std::mutex mutex;  // guards all below
  MakeSpanRecorder make = nullptr;
  std::map<std::string, std::shared_ptr<SpanRecorder>> by_task;
};

DISTRIBUTE_INLINE bool register_span_recorder(MakeSpanRecorder make) {
  auto& recorders = in_process<SpanRecorders>();
  const std::lock_guard lock(recorders.mutex);
  recorders.make = make;
  return true;
}

DISTRIBUTE_INLINE std::shared_ptr<SpanRecorder> span_recorder(const std::string& task) {
  const char* path = std::getenv("DISTRIBUTE_TIMELINE");
  if (!path || !*path) return nullptr;
  auto& recorders = in_process<SpanRecorders>();
  const std::lock_guard lock(recorders.mutex);
  if (!recorders.make) {
    log_warning("strategy",
                "DISTRIBUTE_TIMELINE is not written, as this program has nothing that records it: "
                "include <distribute/workers.hpp>");
    return nullptr;
  }
  // A strategy after another one adds to the same file; another path begins another one.
  auto& recorder = recorders.by_task[std::string(path) + '\n' + task];
  if (!recorder) recorder = recorders.make(task);
  return recorder;
}

}  // namespace distribute::monitoring
