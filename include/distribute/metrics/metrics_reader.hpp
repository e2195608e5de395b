#pragma once
/// The metrics of another task, read over HTTP and as numbers: what a monitor of a job stands on.

#include <distribute/base/config.hpp>
#include <distribute/net/address.hpp>

#include <map>
#include <optional>
#include <string>

namespace distribute {

/// What the MetricsServer at `address` shows, in Prometheus's text format. `token`: as
/// metrics_token() gives it; "" for none.
/// Blocks  until the answer is whole, `seconds` at most.
/// Throws  UnavailableError when nothing answers in time; UnauthenticatedError for a refusal, with
///         the task's reason.
std::string read_metrics(const net::Address& address, const std::string& token,
                         double seconds = 10);

}  // namespace distribute

namespace distribute::monitoring {

/// One reading of a task's metrics.
struct MetricSample {
  std::map<std::string, double> values = {};  // by "name" or "name{labels}"
  double seconds = 0;                         // when it was read, of a clock that only goes forward

  /// Of a metric with its labels as they are printed; none where it is not there.
  std::optional<double> value(const std::string& name) const;
  /// What a label of the first point of `name` says: label("distribute_task_info", "job"); "" where
  /// there is none.
  std::string label(const std::string& name, const std::string& label) const;
};

/// Reads Prometheus's text. Comments, lines that are no values, and buckets of histograms are left
/// out.
MetricSample parse_prometheus_text(const std::string& text, double seconds = 0);

/// Growth of a counter in a second, from one reading to a later one. Nothing where it is not there,
/// `before` has no values, or it went back because the task is a new one.
std::optional<double> rate(const MetricSample& before, const MetricSample& now,
                           const std::string& name);

}  // namespace distribute::monitoring
