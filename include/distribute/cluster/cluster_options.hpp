#pragma once
/// The options of a job's runtime: its limits, those of elastic jobs, and what must be equal on all
/// tasks; the environment can set each limit.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace distribute {

/// Limits and settings. Times are in seconds; each comment ends with the environment variable.
struct ClusterOptions {
  /// Time that a task waits for all others to join: DISTRIBUTE_STARTUP_TIMEOUT.
  double startup_timeout = 300;
  /// Time between two lines that name the missing tasks: DISTRIBUTE_REPORT_INTERVAL.
  double report_interval = 10;
  /// Time between two heartbeats: DISTRIBUTE_HEARTBEAT_INTERVAL.
  double heartbeat_interval = 1;
  /// Time of silence after which a task is lost: DISTRIBUTE_LOST_AFTER. With nine all tasks know it
  /// within ten seconds.
  double lost_after = 9;
  /// Largest time that the handshake of a new connection may take: DISTRIBUTE_HANDSHAKE_TIMEOUT.
  double handshake_timeout = 10;
  /// Time that a finished task waits for the others: DISTRIBUTE_SHUTDOWN_TIMEOUT.
  double shutdown_timeout = 10;
  /// Time limit of collectives, store, barrier, all_gather and agree if the caller passes no
  /// deadline: DISTRIBUTE_OPERATION_TIMEOUT.
  double operation_timeout = 300;
  /// Largest value in the store or in an all_gather, in bytes: DISTRIBUTE_MAX_MESSAGE_BYTES.
  int64_t max_message_bytes = int64_t{64} << 20;
  /// Largest number of unauthenticated connections; a further one replaces the oldest:
  /// DISTRIBUTE_MAX_UNAUTHENTICATED.
  int max_unauthenticated = 128;
  /// Address to listen at instead of the task's own, "0.0.0.0:2222" behind address translation:
  /// DISTRIBUTE_BIND_ADDRESS.
  std::string bind_address;
  /// Secret of the job: DISTRIBUTE_JOB_TOKEN, or the contents of DISTRIBUTE_JOB_TOKEN_FILE.
  std::string job_token;
  /// Allows a job without token outside the loopback interface: DISTRIBUTE_INSECURE=1.
  bool insecure = false;
  /// Encrypts every connection between tasks, with keys from the token or with the certificates
  /// below: DISTRIBUTE_TLS=1.
  bool tls = false;
  /// PEM files, all three or none of them: this task's certificate and its private key, and the
  /// authorities that sign those of all tasks: DISTRIBUTE_TLS_CERT, DISTRIBUTE_TLS_KEY,
  /// DISTRIBUTE_TLS_CA.
  std::string tls_certificate_file, tls_key_file, tls_ca_file;
  /// Receives lines for users, from any thread; empty: stderr.
  std::function<void(const std::string&)> log;

  /// Prints one line for users.
  void print(const std::string& line) const;
  /// Returns the defaults with the values that the environment sets.
  /// Throws  InvalidArgumentError that names the variable, its value and what is allowed.
  static ClusterOptions from_environment();
};

namespace net {
class TlsContext;
}

/// Returns the encryption of the connections of the task `name`, "worker 1"; null when options.tls
/// is off.
/// Throws  InvalidArgumentError when there is neither a token nor certificates, or a file is bad.
std::shared_ptr<const net::TlsContext> make_tls(const ClusterOptions& options,
                                                const std::string& name);

/// Throws  InvalidArgumentError when a limit is not positive, two of them contradict each other,
///         or the token is shorter than net::kMinJobTokenBytes.
void check_options(const ClusterOptions& options);

struct ClusterPlace;

/// Holds the options of elastic jobs. Times are in seconds.
/// Source  the min and max of torchrun's --nnodes, and of Horovod's --min-np and --max-np
struct ElasticOptions {
  /// Smallest number of workers: with fewer training pauses. 0: not elastic, every worker is needed
  /// all the time.
  int min_workers = 0;
  /// Largest number; further workers wait for a free position. 0: all that the cluster names.
  int max_workers = 0;
  /// Time that training pauses before it ends with UnavailableError.
  double timeout_seconds = 600;
  /// Time to wait for more workers at the start when min_workers have come, from the last arrival
  /// on.
  double last_call_seconds = 5;

  /// Returns the defaults with DISTRIBUTE_MIN_WORKERS and DISTRIBUTE_MAX_WORKERS, which
  /// `distribute run --min-np` sets.
  /// Throws  InvalidArgumentError that names the variable.
  static ElasticOptions from_environment();
};

/// Checks that a process that is alone does not ask for other workers.
/// Throws  InvalidArgumentError when min_workers does.
void check_elastic(const ElasticOptions& options, const ClusterPlace& place);

/// How a worker's part in an elastic job has ended.
enum class ElasticEnd {
  Finished,  // the body has returned, on all members
  Left,      // this worker was told to leave; the others continue
  TooLate,   // the others had finished before this worker could join
};

/// Name and value of each option, as errors show them.
using AgreedOptions = std::map<std::string, std::string>;

/// A task and the options_text() that it was started with.
struct OptionsOfTask {
  std::string task;  // "worker 1", "the chief"
  std::string options;
};

/// Formats one line "name=value" for each, in the order of the names, for sending and comparing.
std::string options_text(const AgreedOptions& options);

/// Returns JSON that also holds the library's version, which must be equal too; for
/// ClusterRuntime::agree.
std::string agreed_json(const AgreedOptions& options);

/// Compares the options of two tasks; `tasks` is what the error calls them, "tasks" or "ranks".
/// Throws  FailedPreconditionError with the first option in which the two differ: "the tasks were
///          started with different flags: worker 1 has steps=7, the chief steps=5".
void check_same_options(const char* tasks, const OptionsOfTask& one, const OptionsOfTask& other);

}  // namespace distribute
