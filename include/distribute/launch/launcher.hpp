#pragma once
/// The tasks of a job on one or several hosts, and the launcher that starts them and waits for
/// them.

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
  /// Returns whether this is the local machine: localhost, its name, or the address of one of its
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
  ///          among other hosts, or for a this_host that is not among them or lacks port or token;
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

struct LaunchOptions {  // options of launch()
  JobOptions job = {};
  std::vector<std::string> command = {};
  int max_restarts = 0;  // total for the whole job and single tasks
  /// Time in which max_restarts are allowed; 0: the whole life of the job.
  double restart_window_seconds = 0;
  /// Number of job.workers with which an elastic job continues; 0: the job is not elastic.
  int min_workers = 0;
  int first_workers = 0;        // of an elastic job: number started at once; 0: all
  std::string output_dir = {};  // for a file per task, such as worker-0.log; empty: none
  // time after the first failure in which the other tasks may end by themselves
  double grace_seconds = 12;
  /// All tasks have ended this many seconds after a signal that ends the job, or after the first
  /// preempted task. The default is below the 30 s that Kubernetes gives.
  double stop_timeout = 25;
  std::string ssh = {};  // see ssh_command
};

/// The exit status of a trainer that was told to end and has saved its state (128 + SIGTERM).
inline constexpr int kPreempted = 143;

/// Starts the tasks, and passes their lines on to stdout and stderr behind their names.
///
/// The job has ended when the chief and all workers have; with parameter servers and a chief, when
/// the chief has. Tasks that still run then get SIGTERM, later SIGKILL. After the first task that
/// fails the others may end by themselves for a while, since survivors report the failure; then
/// they get the signals. With restarts left, all tasks start again with new ports and a new token;
/// the environment counts the attempts in DISTRIBUTE_RESTART_COUNT. The first restart in a row is
/// at once, later ones after growing pauses. If a task ends by itself with a status below 128,
/// neither it nor the job is started again: the same command would fail again
/// (base/exit_status.hpp).
///
/// With parameter servers, a chief or worker that a signal has ended, or that was preempted, starts
/// again alone, as the same task, while restarts are left: the servers have kept the variables.
/// When a server fails, or a task ends by itself, all start again.
///
/// A job with min_workers is elastic: a worker that fails, is killed or was preempted starts again
/// alone, as the same task, while restarts are left; without, the others continue as long as there
/// are min_workers. Its program must be elastic too (train::ElasticLoop).
///
/// SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are sent to all tasks; the second SIGINT kills
/// them. After a signal that ends programs nothing is restarted, and tasks that have not ended
/// within stop_timeout are killed. Call it on one thread, which must be the program's only one that
/// receives signals.
///
/// A reader that does not read stdout, stderr or a file of output_dir does not prevent any of this:
/// the tasks wait for it, until the job ends; then about a megabyte of each output waits for it,
/// until stop_timeout after the signal, or since it has last read from a failed job. A line on
/// stderr counts the bytes that were not written.
///
/// Returns the first failed task's status as a shell would show it, 0 when none failed. It is 128
/// and the signal's number when tasks had to be killed after a signal, and kExitFailed when all
/// tasks succeeded and output was lost for another reason than a reader that has gone.
/// Blocks  until the job has ended.
/// Throws  InvalidArgumentError for an impossible job; NotFoundError, PermissionDeniedError that
///          name the program.
int launch(const LaunchOptions& options);

}  // namespace distribute::launch
