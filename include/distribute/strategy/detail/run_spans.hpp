#pragma once
/// Rows of a strategy of one process in DISTRIBUTE_TIMELINE.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/span_recorder.hpp>

#include <memory>
#include <string>
#include <vector>

namespace distribute::strategy_internal {

/// Has a row for the runs and, with several replicas, one for each replica. The file is written
/// when the object is destroyed. Thread-safe.
class RunSpans {
 public:
  /// Makes an object that records nothing.
  RunSpans() = default;
  /// `task`: such as "worker-1" in a job with a trace for each task, else empty.
  RunSpans(const std::string& strategy, int replicas, std::string task = {});
  ~RunSpans();
  RunSpans(const RunSpans&) = delete;
  RunSpans& operator=(const RunSpans&) = delete;

  /// Returns an object that adds the span of a run, or of an action of a replica. `name` must
  /// outlive it.
  monitoring::RecordedSpan run() const { return {recorder_.get(), row(0), "run"}; }
  monitoring::RecordedSpan replica(int replica, const char* name) const {
    return {rows_.size() > 1 ? recorder_.get() : nullptr, row(1 + replica), name};
  }

 private:
  int row(int i) const { return size_t(i) < rows_.size() ? rows_[size_t(i)] : 0; }

  std::shared_ptr<monitoring::SpanRecorder> recorder_;
  std::string task_;
  std::vector<int> rows_;  // row of the runs, then those of the replicas
};

}  // namespace distribute::strategy_internal
