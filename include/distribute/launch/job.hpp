#pragma once
/// The tasks of a job on hosts, with their addresses.

#include <distribute/base/config.hpp>
#include <distribute/launch/detail/descriptor.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::launch {

struct Host {        // a host and its slots
  std::string name;  // as ssh takes it: "node1", "user@node1", "10.0.0.1", "fd00::1"
  int slots = 1;     // number of tasks on the host

  /// Returns the name without "user@", to which other hosts connect.
  std::string address() const;
  /// Whether this is the local machine: localhost, its name, or the address of one of its
  /// interfaces.
  bool is_local() const;
  bool is_loopback() const;
};

/// Parses "node1:4,node2:4,[fd00::1]:2"; without a number a host has one slot. A host that is named
/// twice has the slots of both.
/// Throws  InvalidArgumentError with the part that does not parse.
std::vector<Host> parse_host_list(std::string_view text);

/// Parses one host a line, as MPI and PBS write them: "node1 slots=4", "node1:4" or "node1", which
/// may occur several times. `#` begins a comment. `source` names the file in errors.
/// Throws  InvalidArgumentError with file and line.
std::vector<Host> parse_host_file(std::string_view text, const std::string& source);

/// Reads and parses a host file.
/// Throws  NotFoundError when there is no such file.
std::vector<Host> read_host_file(const std::string& path);

int count_slots(const std::vector<Host>& hosts);  // of all hosts together

/// Reserves a port by a socket that is bound but does not listen. The system gives its port to no
/// program that asks for any free port, and connections to it are refused; but a program that asks
/// for this port with SO_REUSEADDR (every usual server, Asio's acceptor among them) or SO_REUSEPORT
/// (gRPC) gets it. So the port cannot be lost between its choice and its use, and a task that is
/// started again gets it, too. A program that sets neither option gets EADDRINUSE.
class ReservedPort {
 public:
  /// Reserves port `wanted`, or any for 0.
  /// Throws  UnavailableError when the port is taken, or none is left.
  explicit ReservedPort(int wanted = 0);
  int number() const { return number_; }

 private:
  Descriptor socket_;
  int number_ = 0;
};

struct JobOptions {  // options of Job
  int workers = 1;
  int parameter_servers = 0;
  bool chief = false;            // adds a task of type chief
  bool evaluator = false;        // adds a task outside the cluster
  std::vector<Host> hosts = {};  // empty: this machine, with enough slots
  bool oversubscribe = false;
  // name of this host, whose tasks alone start, where a launcher runs on each of the hosts; they
  // all name the same port and token. Empty: one launcher starts all tasks
  std::string this_host = {};
  std::string token = {};  // secret of the job; empty: a new one
  // of the first task of each host, the next one's is one higher; 0: any free ones
  int port = 0;
  int metrics_port = 0;  // likewise for Prometheus; 0: as in the environment
};

struct Task {        // a task of the job, its host and address
  std::string type;  // "chief", "worker", "ps" or "evaluator"
  int index = 0;
  Host host;
  bool local = true;       // runs on this machine, without ssh
  bool elsewhere = false;  // another host's launcher starts it
  std::string address;     // "host:port"
  int local_rank = 0;      // among the tasks of its host
  int local_size = 1;

  /// Returns "worker 0"
  std::string name() const;
};

/// A planned job holds its loopback ports as long as it lives. Immutable; movable.
class Job {
 public:
  /// Assigns tasks to the slots of the hosts in order: chief, workers, parameter servers,
  /// evaluator.
  /// Throws  InvalidArgumentError for impossible counts, more tasks than slots, or loopback names
  ///          among other hosts, or this_host that is none of them or lacks port or token;
  ///          UnavailableError when a port is taken.
  explicit Job(const JobOptions& options);

  /// Returns all tasks, in the order in which they are started.
  const std::vector<Task>& tasks() const { return tasks_; }
  /// Returns the secret of the job's tasks: that of the options, or 64 hexadecimal digits.
  const std::string& token() const { return token_; }
  /// Returns the TF_CONFIG of a task.
  std::string tf_config(const Task& task) const;
  /// Returns TF_CONFIG, the token, DISTRIBUTE_METRICS_PORT if the options set it, and for
  /// information DISTRIBUTE_LOCAL_RANK and DISTRIBUTE_LOCAL_SIZE.
  std::map<std::string, std::string> environment(const Task& task) const;

 private:
  void place(const JobOptions& options);
  void give_addresses(const JobOptions& options);

  std::vector<Task> tasks_;
  std::vector<ReservedPort> ports_;
  std::string token_;
  int metrics_port_;
};

/// Returns variables of this process that no task of a job may inherit.
std::vector<std::string> variables_of_another_job();

}  // namespace distribute::launch
