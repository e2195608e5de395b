#pragma once
/// What happened when in this process, for strategies that have no other workers. The recorder
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
  /// Writes what has been recorded so far, as the spans of one task alone.
  virtual void save_alone(const std::string& task) const = 0;
};

/// Adds the time between its beginning and its end. Nothing when `recorder` is null.
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

/// Makes the recorder of `task`, such as "worker-1"; empty: what the environment says.
using MakeSpanRecorder = std::shared_ptr<SpanRecorder> (*)(const std::string& task);

/// Called by the header that has the recorder, when the program starts. Returns true.
bool register_span_recorder(MakeSpanRecorder make);

/// What has spans beside those of the host's threads, such as a GPU.
struct SpanSource {
  /// Adds spans to `recorder` from now on, while it lives.
  void (*record)(const std::shared_ptr<SpanRecorder>& recorder) = nullptr;
  /// Adds those of what has been done so far.
  void (*flush)() = nullptr;
};

/// The process's one source, which records for the recorder that was made last. Returns true.
bool register_span_source(SpanSource source);
/// The source records for it from now on. What makes a recorder calls it.
void record_source(const std::shared_ptr<SpanRecorder>& recorder);
/// Before the spans are written.
void flush_source();

/// The one recorder of `task` in this process; null when DISTRIBUTE_TIMELINE is not set. A program
/// that has no recorder gets a warning.
std::shared_ptr<SpanRecorder> span_recorder(const std::string& task);

}  // namespace distribute::monitoring
