#pragma once
/// The processes of a data service: one dispatcher, and workers that come and go.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/cluster/cluster_options.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace distribute::data::service {

/// Holds the options of DispatchServer. Source  tf.data.experimental.service.DispatcherConfig
struct DispatcherConfig {
  int port = 0;  // 0: the system chooses
  /// Other tasks reach this host under this name or address. Every address but a loopback address
  /// needs a token.
  std::string host = "127.0.0.1";
  /// Directory of the journal.
  std::string work_dir = {};
  /// Writes registered datasets, jobs and splits to the journal before it answers, so that a
  /// dispatcher that is started again goes on with them.
  bool fault_tolerant_mode = false;
  /// Workers that share datasets by File, Data or Hint: "host:port", or "host" for any port. Each
  /// has the shard of its place in the list.
  std::vector<std::string> worker_addresses = {};
  /// After a restart, workers and readers that have not come back after this time are lost.
  int64_t worker_timeout_ms = 10000;
  ClusterOptions cluster = ClusterOptions::from_environment();  // token, encryption, heartbeats
};

/// Knows the workers, and hands out parts of sources. Thread-safe.
/// Source  tf.data.experimental.service.DispatchServer
class DispatchServer {
 public:
  /// Throws  InvalidArgumentError for options that contradict each other; FailedPreconditionError
  ///         when the port is taken, or without a token outside of loopback; DataLossError for a
  ///         damaged journal.
  explicit DispatchServer(const DispatcherConfig& config = {});
  /// Stops serving. Workers and readers try again until their deadlines.
  ~DispatchServer();
  DispatchServer(const DispatchServer&) = delete;
  DispatchServer& operator=(const DispatchServer&) = delete;

  /// "host:port" for ReadOptions::service and WorkerConfig.
  std::string target() const;
  int64_t num_workers() const;  // that are there now

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Holds the options of WorkerServer. Source  tf.data.experimental.service.WorkerConfig
struct WorkerConfig {
  std::string dispatcher_address = {};  // "host:port"
  int port = 0;
  std::string host = "127.0.0.1";  // as in DispatcherConfig
  /// How long the dispatcher may be away. Source  dispatcher_timeout_ms, an hour, too
  int64_t dispatcher_timeout_ms = 3600 * 1000;
  /// Bytes of elements that the cache of one task keeps for slower trainers, less where memory is
  /// short. Source  10 GiB, too
  int64_t cross_trainer_cache_size_bytes = int64_t{10} << 30;
  ClusterOptions cluster = ClusterOptions::from_environment();
};

/// Makes the datasets that this program has registered. Thread-safe.
/// Source  tf.data.experimental.service.WorkerServer
class WorkerServer {
 public:
  /// Starts the worker.
  /// Blocks  until the dispatcher has registered it.
  /// Throws  DeadlineExceededError with the dispatcher's address; FailedPreconditionError with the
  ///         first difference when another worker has registered another pipeline under a name,
  ///         or when no dataset is registered.
  explicit WorkerServer(const WorkerConfig& config);
  ~WorkerServer();
  WorkerServer(const WorkerServer&) = delete;
  WorkerServer& operator=(const WorkerServer&) = delete;

  /// "host:port" where readers find it.
  std::string address() const;
  /// Blocks  until the dispatcher is away for longer than dispatcher_timeout_ms.
  /// Throws  the error of the last try.
  void join();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Runs a worker until a signal ends the process. The main() of a program that has registered its
/// datasets calls it with its own flags: --dispatcher HOST:PORT, --host HOST, --port PORT,
/// --cache_bytes N (cross_trainer_cache_size_bytes). The job token and encryption come from the
/// environment.
/// Returns  2, after a line on stderr, for flags that it does not know; 1 for an error.
int worker_main(int argc, char** argv);

}  // namespace distribute::data::service
