#pragma once
/// Metrics of a process in the format of Prometheus, the server that shows them, and their reader.

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

/// HELP, TYPE and a line for each point of each family, in the order given; samplers become
/// histograms. Families without points are left out.
/// Source  https://prometheus.io/docs/instrumenting/exposition_formats
std::string prometheus_text(const std::vector<MetricFamily>& families);

/// What the system says about this process, under the names that Prometheus's own clients use:
/// process_resident_memory_bytes, process_cpu_seconds_total, process_open_fds, ... Units are in the
/// names.
std::vector<MetricFamily> process_metrics();

}  // namespace distribute::monitoring

namespace distribute {

struct MetricsServerOptions {  // options of MetricsServer
  net::Address address;        // port 0: the system chooses
  std::string token = {};      // that a reader must show; empty: none
  bool insecure = false;       // allows an address beyond loopback without a token
};

/// Answers GET /metrics with all of monitoring::default_registry() and the process's own figures,
/// in text format 0.0.4, on a thread of its own. Readers are few at a time and short-lived: who
/// sends nothing, or slowly, is dropped after 5 seconds, and does not keep others waiting.
/// Thread-safe.
class MetricsServer {
 public:
  /// Throws  FailedPreconditionError when the port is taken, or the address is not loopback and
  ///         there is no token.
  explicit MetricsServer(const MetricsServerOptions& options);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;

  /// The address as numbers, with the port that the system chose.
  const net::Address& address() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// DISTRIBUTE_METRICS_TOKEN, or a text that follows from the job's token and does not give it away;
/// empty without either.
/// Throws  UnimplementedError when it would have to be derived in a build without OpenSSL.
std::string metrics_token(const std::string& job_token);

/// Starts the server of this process on `host` when DISTRIBUTE_METRICS_PORT is set (0: any port),
/// at the first call; it lives as long as the process and says where it listens.
/// Throws  InvalidArgumentError for a bad port; as MetricsServer.
void start_metrics_server(const std::string& host);

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

  /// The value of a metric, named with its labels as they are printed; nothing where it is missing.
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
