#pragma once
/// The plan of a job: its tasks, where they run, their addresses and what they are told.

#include <distribute/base/config.hpp>
#include <distribute/launch/host_list.hpp>
#include <distribute/launch/reserved_port.hpp>

#include <map>
#include <string>
#include <vector>

namespace distribute::launch {

struct JobOptions {  // options of Job
  int workers = 1;
  int parameter_servers = 0;
  bool chief = false;            // one more task, of type chief
  bool evaluator = false;        // one more task, outside the cluster
  std::vector<Host> hosts = {};  // none: this machine, with as many tasks as wanted
  bool oversubscribe = false;
  int port = 0;          // of the first task of each host, the next one's is one higher; 0: chosen
  int metrics_port = 0;  // the same for Prometheus; 0: as the environment says
};

struct Task {        // a task of the job and its place
  std::string type;  // "chief", "worker", "ps" or "evaluator"
  int index = 0;
  Host host;
  bool local = true;    // runs on this machine, without ssh
  std::string address;  // "host:port"
  int local_rank = 0;   // among the tasks of its host
  int local_size = 1;

  /// "worker 0"
  std::string name() const;
};

/// A planned job holds its loopback ports as long as it lives. Immutable; movable.
class Job {
 public:
  /// Tasks fill the slots of the hosts in order: chief, workers, parameter servers, evaluator.
  /// Throws  InvalidArgumentError for counts that make no job, more tasks than slots, or loopback
  ///         names among other hosts; UnavailableError when a port is taken.
  explicit Job(const JobOptions& options);

  /// All tasks, in the order in which they are started.
  const std::vector<Task>& tasks() const { return tasks_; }
  /// The secret that only the tasks of this job know: 64 hexadecimal digits.
  const std::string& token() const { return token_; }
  /// What the resolver of this task reads.
  std::string tf_config(const Task& task) const;
  /// TF_CONFIG, the token, DISTRIBUTE_METRICS_PORT where the options say so, and
  /// DISTRIBUTE_LOCAL_RANK, DISTRIBUTE_LOCAL_SIZE for information.
  std::map<std::string, std::string> environment(const Task& task) const;

 private:
  void place(const JobOptions& options);
  void give_addresses(const JobOptions& options);

  std::vector<Task> tasks_;
  std::vector<ReservedPort> ports_;
  std::string token_;
  int metrics_port_;
};

/// Variables of this process that no task of a job may inherit.
std::vector<std::string> variables_of_another_job();

}  // namespace distribute::launch
