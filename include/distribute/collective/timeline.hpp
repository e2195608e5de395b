#pragma once
/// Actions of all tasks of a job and their times, as a Chrome trace:
/// DISTRIBUTE_TIMELINE=trace.json. Open it in https://ui.perfetto.dev or chrome://tracing.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/span_recorder.hpp>
#include <distribute/collective/detail/flight_recorder.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace distribute::collective {

/// The last `capacity` spans of one task, in named rows. Thread-safe.
class Timeline : public monitoring::SpanRecorder {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Timeline(std::string path, size_t capacity = 100'000);
  /// Returns null when DISTRIBUTE_TIMELINE is not set. All tasks of a job together keep 100,000
  /// spans.
  /// Throws  as check_path(), when there is one task.
  static std::shared_ptr<Timeline> from_environment(int tasks = 1);
  /// Checks that the file can be written; the task that will write it calls this before it trains.
  /// Throws  InvalidArgumentError or PermissionDeniedError that name DISTRIBUTE_TIMELINE and the
  ///          path.
  void check_path() const;

  DISTRIBUTE_INLINE int add_row(std::string name) override;
  /// Adds a span to a row; any thread may call it.
  DISTRIBUTE_INLINE void add(int row, std::string name, Clock::time_point begin,
                             Clock::time_point end) override;
  /// Adds a collective that has ended, with the time that it waited for its turn.
  void add(int row, const FlightRecorder::Record& record);

  /// Returns the spans as JSON objects with commas between them, in the trace event format.
  /// `clock_offset` is the difference from this task's clock to that of the task whose clock is
  /// used.
  std::string events(int task, const std::string& task_name, std::chrono::nanoseconds offset) const;
  /// Writes the events of all tasks. If that fails it prints a warning on stderr.
  void save(std::span<const std::string> events) const;
  DISTRIBUTE_INLINE void save_alone(const std::string& task) const override;

 private:
  struct Span {
    int row = 0;
    std::string name;
    Clock::time_point begin, end;
    // Of collectives only:
    Clock::time_point queued = {};
    int64_t bytes = -1;
    bool failed = false;
  };
  void keep(Span span);
  std::vector<Span> sorted() const;
  static std::string event(const Span& span, const std::string& process,
                           std::chrono::nanoseconds offset);

  const std::string path_;
  const size_t capacity_;
  mutable std::mutex mutex_;  // guards the members below
  std::vector<std::string> rows_;
  std::vector<Span> spans_;  // a ring once it holds `capacity_` spans
  uint64_t next_ = 0;
};

using TimelineSpan = monitoring::RecordedSpan;

/// Makes the recorder of strategies of one process. In a job the file has the task in its name:
/// "trace.worker-1.json" for "trace.json".
std::shared_ptr<monitoring::SpanRecorder> make_process_timeline(const std::string& task);

inline const bool kTimelineIsRegistered =
    monitoring::register_span_recorder(&make_process_timeline);

}  // namespace distribute::collective
