#pragma once
/// Records the times of this process's actions, for strategies without other workers. The recorder
/// itself, which writes DISTRIBUTE_TIMELINE, is collective/timeline.hpp.

#include <distribute/base/config.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace distribute::monitoring {

/// Keeps spans of time in named rows. Thread-safe.
class SpanRecorder {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~SpanRecorder() = default;

  /// Spans of one row may contain each other, but do not overlap otherwise.
  virtual int add_row(std::string name) = 0;
  virtual void add(int row, std::string name, Clock::time_point begin, Clock::time_point end) = 0;
  /// Writes the recorded spans, as those of a single task.
  virtual void save_alone(const std::string& task) const = 0;
};

/// Adds the time between its construction and its destruction, unless `recorder` is null.
class RecordedSpan {
 public:
  RecordedSpan(SpanRecorder* recorder, int row, const char* name)
      : recorder_(recorder), row_(row), name_(name) {
    if (recorder_) begin_ = SpanRecorder::Clock::now();
  }
  ~RecordedSpan() {
    if (recorder_) recorder_->add(row_, name_, begin_, SpanRecorder::Clock::now());
  }
  RecordedSpan(const RecordedSpan&) = delete;
  RecordedSpan& operator=(const RecordedSpan&) = delete;

 private:
  SpanRecorder* recorder_;
  int row_;
  const char* name_;
  SpanRecorder::Clock::time_point begin_{};
};

/// Makes the recorder of `task`, such as "worker-1"; an empty name stands for the environment's.
using MakeSpanRecorder = std::shared_ptr<SpanRecorder> (*)(const std::string& task);

/// Sets the function; the header with the recorder calls it when the program starts. Returns true.
bool register_span_recorder(MakeSpanRecorder make);

/// A source of other spans than those of the host's threads, such as a GPU.
struct SpanSource {
  /// Adds spans to `recorder` from this call on, while that lives.
  void (*record)(const std::shared_ptr<SpanRecorder>& recorder) = nullptr;
  /// Adds the spans of work that is complete.
  void (*flush)() = nullptr;
};

/// Sets the process's one source, which records for the recorder made last. Returns true.
bool register_span_source(SpanSource source);
/// Makes the source record for this recorder; the maker of a recorder calls it.
void record_source(const std::shared_ptr<SpanRecorder>& recorder);
/// Flushes the source before the spans are written.
void flush_source();

/// Returns the one recorder of `task` in this process; null when DISTRIBUTE_TIMELINE is not set. A
/// program without a recorder gets a warning.
std::shared_ptr<SpanRecorder> span_recorder(const std::string& task);

}  // namespace distribute::monitoring
