#pragma once
/// What `distribute top` shows of a task, from two readings of its metrics.

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace distribute_tools {

/// Values of Prometheus's text by "name" or "name{labels}", and when they were read.
struct MetricSample {
  std::map<std::string, double> values;
  double seconds = 0;  // of a steady clock
};

/// Lines that are no values, such as comments and buckets of histograms, are left out.
MetricSample parse_metrics(const std::string& text, double seconds);

/// One line of the table. What is not known is empty.
struct TaskRow {
  std::string task, address;  // "worker 0"; the address where the task has not said what it is
  bool reachable = true;
  std::optional<double> step, images_per_second, communication_share, input_share, late_steps,
      resident_bytes, throttled_share, restarts;
};

/// `before` may be without values: rates are empty then.
TaskRow row_of(const std::string& address, const MetricSample& before, const MetricSample& now);
/// Steps in which the others waited for a worker are known to worker 0, for all.
void share_lateness(std::vector<TaskRow>& rows, const std::vector<MetricSample>& samples);

/// A table with a heading, one line for each task.
std::string table_of(const std::vector<TaskRow>& rows);
/// One JSON object on one line.
std::string json_of(const std::vector<TaskRow>& rows, double unix_seconds);

}  // namespace distribute_tools
