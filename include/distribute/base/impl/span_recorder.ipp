#pragma once
#include <distribute/base/detail/span_recorder.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>

#include <cstdlib>
#include <map>
#include <mutex>

namespace distribute::monitoring {

struct SpanRecorders {
  std::mutex mutex;  // guards all below
  MakeSpanRecorder make = nullptr;
  SpanSource source;
  std::weak_ptr<SpanRecorder> last;  // that the source records for
  std::map<std::string, std::shared_ptr<SpanRecorder>> by_task;
};

DISTRIBUTE_INLINE bool register_span_recorder(MakeSpanRecorder make) {
  auto& recorders = in_process<SpanRecorders>();
  const std::lock_guard lock(recorders.mutex);
  recorders.make = make;
  return true;
}

DISTRIBUTE_INLINE bool register_span_source(SpanSource source) {
  auto& recorders = in_process<SpanRecorders>();
  const auto recorder = [&] {
    const std::lock_guard lock(recorders.mutex);
    recorders.source = source;
    return recorders.last.lock();
  }();
  if (recorder) source.record(recorder);
  return true;
}

DISTRIBUTE_INLINE void record_source(const std::shared_ptr<SpanRecorder>& recorder) {
  auto& recorders = in_process<SpanRecorders>();
  const SpanSource source = [&] {
    const std::lock_guard lock(recorders.mutex);
    recorders.last = recorder;
    return recorders.source;
  }();
  if (source.record) source.record(recorder);
}

DISTRIBUTE_INLINE void flush_source() {
  auto& recorders = in_process<SpanRecorders>();
  const SpanSource source = [&] {
    const std::lock_guard lock(recorders.mutex);
    return recorders.source;
  }();
  if (source.flush) source.flush();
}

DISTRIBUTE_INLINE std::shared_ptr<SpanRecorder> span_recorder(const std::string& task) {
  const std::string path = Environment().text("DISTRIBUTE_TIMELINE");
  if (path.empty()) return nullptr;
  auto& recorders = in_process<SpanRecorders>();
  std::unique_lock lock(recorders.mutex);
  if (!recorders.make) {
    log_warning("strategy",
                "DISTRIBUTE_TIMELINE is not written, as this program has nothing that records it: "
                "include <distribute/strategy.hpp>");
    return nullptr;
  }
  // A strategy after another one adds to the same file; another path begins another one.
  std::shared_ptr<SpanRecorder>& kept = recorders.by_task[std::string(path) + '\n' + task];
  if (kept) return kept;
  const std::shared_ptr<SpanRecorder> made = kept = recorders.make(task);
  lock.unlock();
  record_source(made);
  return made;
}

}  // namespace distribute::monitoring
