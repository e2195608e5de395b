#pragma once
/// Metrics of a process in the format of Prometheus: a server and a reader.

#include <distribute/base/config.hpp>
#include <distribute/base/monitoring.hpp>
#include <distribute/net/address.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute::monitoring {

inline constexpr const char* kPrometheusContentType = "text/plain; version=0.0.4; charset=utf-8";

/// Formats HELP, TYPE and a line for each point of each family, in the given order; samplers become
/// histograms. Families without points are left out.
/// Source  https://prometheus.io/docs/instrumenting/exposition_formats
std::string prometheus_text(const std::vector<MetricFamily>& families);

/// Returns what the system reports about this process, under the names that Prometheus's own
/// clients use: process_resident_memory_bytes, process_cpu_seconds_total, process_open_fds, ...
/// Units are in the names.
std::vector<MetricFamily> process_metrics();

}  // namespace distribute::monitoring

namespace distribute {

struct MetricsServerOptions {  // options of MetricsServer
  net::Address address;        // port 0: the system chooses
  std::string token = {};      // that readers must send; empty: none is required
  bool insecure = false;       // allows an address beyond loopback without a token
};

/// Answers GET /metrics with all of monitoring::default_registry() and the process's own metrics,
/// in text format 0.0.4, on its own thread. It expects few, short-lived readers: a connection that
/// sends nothing, or slowly, is closed after 5 seconds, and does not delay others. Thread-safe.
class MetricsServer {
 public:
  /// Throws  FailedPreconditionError when the port is taken, or the address is not loopback and
  ///         there is no token.
  explicit MetricsServer(const MetricsServerOptions& options);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;

  /// Returns the address as numbers, with the port that the system chose.
  const net::Address& address() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns DISTRIBUTE_METRICS_TOKEN, or a text derived from the job's token that does not reveal
/// it; empty without either.
/// Throws  UnimplementedError when it would have to be derived in a build without OpenSSL.
std::string metrics_token(const std::string& job_token);

/// At the first call, starts this process's server on `host`, on the port DISTRIBUTE_METRICS_PORT
/// (0: any); does nothing where it is not set. The server logs its address and is never stopped.
/// Throws  InvalidArgumentError for a bad port; as MetricsServer.
void start_metrics_server(const std::string& host);

/// Reads the metrics of the MetricsServer at `address`, in Prometheus's text format. `token` is the
/// result of metrics_token(), empty for none.
/// Blocks  until the answer is whole, `seconds` at most.
/// Throws  UnavailableError when nothing answers in time; UnauthenticatedError for a refusal, with
///          the task's reason.
std::string read_metrics(const net::Address& address, const std::string& token,
                         double seconds = 10);

}  // namespace distribute

namespace distribute::monitoring {

/// One reading of a task's metrics.
struct MetricSample {
  std::map<std::string, double> values = {};  // by "name" or "name{labels}"
  // time of the reading, by a clock that never goes back
  double seconds = 0;

  /// Returns the value of a metric, named with its labels as they are printed; nullopt if it is
  /// missing.
  std::optional<double> value(const std::string& name) const;
  /// Returns the value of a label of the first point of `name`: label("distribute_task_info",
  /// "job"); "" if there is none.
  std::string label(const std::string& name, const std::string& label) const;
};

/// Parses Prometheus's text. Comments, lines without a value, and buckets of histograms are left
/// out.
MetricSample parse_prometheus_text(const std::string& text, double seconds = 0);

/// Returns the growth of a counter per second, from one reading to a later one; nullopt if it is
/// missing, `before` has no values, or it went back because the task was restarted.
std::optional<double> rate(const MetricSample& before, const MetricSample& now,
                           const std::string& name);

}  // namespace distribute::monitoring
