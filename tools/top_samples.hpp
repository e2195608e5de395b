#pragma once
/// What `distribute top` shows of a task, from two readings of its metrics.

#include <distribute/metrics/metrics_server.hpp>

#include <optional>
#include <string>
#include <vector>

namespace distribute_tools {

using distribute::monitoring::MetricSample;

/// One line of the table. What is not known is empty.
struct TaskRow {
  std::string task, address;  // "worker 0"; the address where the task has not said what it is
  bool reachable = true;
  std::optional<double> step, loss, seconds_left, images_per_second, communication_share,
      input_share, late_steps, resident_bytes, throttled_share, restarts;
  // Only tasks of a data service have these.
  std::optional<double> served_per_second, served_bytes_per_second, clients, lost_workers;
};

/// `before` may be without values: rates are empty then.
TaskRow row_of(const std::string& address, const MetricSample& before, const MetricSample& now);
/// Steps in which the others waited for a worker are known to worker 0, for all.
void share_lateness(std::vector<TaskRow>& rows, const std::vector<MetricSample>& samples);

/// Returns at most 32 rows as they are. Of more, tasks that are gone or late have a row, ten of
/// each at most, and the others of each job together one with the means of their figures.
std::vector<TaskRow> folded(const std::vector<TaskRow>& rows);
/// What all tasks have together: examples per second, late steps, memory, restarts.
TaskRow sum_of(const std::vector<TaskRow>& rows);

/// A table with a heading, one line for each row, folded, and for several tasks one for their sum.
std::string table_of(const std::vector<TaskRow>& rows);
/// One JSON object on one line.
std::string json_of(const std::vector<TaskRow>& rows, double unix_seconds);

}  // namespace distribute_tools
