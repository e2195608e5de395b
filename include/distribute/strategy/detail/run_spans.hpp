#pragma once
/// The rows of a strategy of one process in DISTRIBUTE_TIMELINE.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/span_recorder.hpp>

#include <memory>
#include <string>
#include <vector>

namespace distribute::strategy_internal {

/// A row for the runs and one for each replica, where there are several. Written at its end.
/// Thread-safe.
class RunSpans {
 public:
  /// Nothing is recorded.
  RunSpans() = default;
  /// `task`: such as "worker-1" in a job with a trace for each task, else empty.
  RunSpans(const std::string& strategy, int replicas, std::string task = {});
  ~RunSpans();
  RunSpans(const RunSpans&) = delete;
  RunSpans& operator=(const RunSpans&) = delete;

  /// What adds the span of a run, and of what a replica does. `name` outlives it.
  monitoring::RecordedSpan run() const { return {recorder_.get(), row(0), "run"}; }
  monitoring::RecordedSpan replica(int replica, const char* name) const {
    return {rows_.size() > 1 ? recorder_.get() : nullptr, row(1 + replica), name};
  }

 private:
  int row(int i) const { return size_t(i) < rows_.size() ? rows_[size_t(i)] : 0; }

  std::shared_ptr<monitoring::SpanRecorder> recorder_;
  std::string task_;
  std::vector<int> rows_;  // that of the runs, then those of the replicas
};

}  // namespace distribute::strategy_internal
