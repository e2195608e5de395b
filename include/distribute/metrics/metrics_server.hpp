#pragma once
/// This task's metrics over HTTP, for Prometheus.

#include <distribute/base/config.hpp>
#include <distribute/net/address.hpp>

#include <memory>
#include <string>

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

  /// As numbers, with the port that the system chose.
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

}  // namespace distribute
