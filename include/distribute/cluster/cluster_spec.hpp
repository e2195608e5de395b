#pragma once
/// The tasks of a cluster: jobs, indices, addresses, and types of tasks.

#include <distribute/base/config.hpp>

#include <initializer_list>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace distribute {

/// The addresses of one job by task index: {"a:1", "b:1"} or, with gaps, {{1, "b:1"}}.
class JobTasks {
 public:
  JobTasks() = default;
  JobTasks(std::initializer_list<std::string> addresses);
  JobTasks(const std::vector<std::string>& addresses);  // NOLINT: implicit
  JobTasks(std::initializer_list<std::pair<const int, std::string>> tasks);
  JobTasks(std::map<int, std::string> tasks);  // NOLINT: implicit

  /// Returns addresses by the indices of tasks, which may have gaps; size() the number of tasks.
  const std::map<int, std::string>& by_index() const { return tasks_; }
  int size() const { return int(tasks_.size()); }
  /// Returns whether the indices are 0, 1, ..., n - 1, with at least one.
  bool dense() const;
  friend bool operator==(const JobTasks&, const JobTasks&) = default;

 private:
  std::map<int, std::string> tasks_;
};

/// A set of tasks, organized into jobs; a value. Jobs are in the order of their names.
/// Throws  InvalidArgumentError for a negative index, or for a name or address with control
///         characters or bytes that are not UTF-8.
/// Source  tf.train.ClusterSpec
class ClusterSpec {
 public:
  using Jobs = std::map<std::string, JobTasks>;

  ClusterSpec() = default;
  ClusterSpec(std::initializer_list<std::pair<const std::string, JobTasks>> jobs);
  explicit ClusterSpec(Jobs jobs);

  /// Parses {"worker": ["a:1", "b:1"], "ps": {"1": "c:1"}}; errors begin with `source`.
  /// Throws  InvalidArgumentError that shows the place; also when a task is named twice.
  static ClusterSpec from_json(std::string_view text, const std::string& source = "cluster");
  /// Returns a list for a dense job, an object for another one, {} for an empty one.
  std::string to_json() const;

  /// Whether there are jobs; a job without tasks counts.
  explicit operator bool() const { return !jobs_.empty(); }
  const Jobs& as_dict() const { return jobs_; }
  std::vector<std::string> jobs() const;
  bool has_job(const std::string& job) const;

  /// These throw InvalidArgumentError ("No such job in cluster", "No task with index").
  int num_tasks(const std::string& job) const;
  std::vector<int> task_indices(const std::string& job) const;
  const std::string& task_address(const std::string& job, int index) const;
  /// Returns the addresses by position; nullopt for a missing index of a sparse job. Also throws
  /// InvalidArgumentError for an index so large that the list would not fit into memory.
  std::vector<std::optional<std::string>> job_tasks(const std::string& job) const;

  friend bool operator==(const ClusterSpec&, const ClusterSpec&) = default;

 private:
  const JobTasks& job_or_throw(const std::string& job) const;
  void check() const;

  Jobs jobs_;
};

namespace untrusted {
struct JsonValue;
}  // namespace untrusted

namespace cluster_internal {
/// Returns " has a control character: ..." or " is not UTF-8: ..."; "" for a valid text.
std::string text_problem(const std::string& text);
/// Returns the spec in a JSON value; errors call it `place`, such as "TF_CONFIG: cluster".
ClusterSpec cluster_spec_of(const untrusted::JsonValue& value, const std::string& place);
}  // namespace cluster_internal

/// Holds the name of a job. Every name is allowed; code that needs a known name checks it.
/// Source  strings such as "worker" in tf.distribute.cluster_resolver
class TaskType {
 public:
  static constexpr std::string_view Chief = "chief";
  static constexpr std::string_view Worker = "worker";
  static constexpr std::string_view ParameterServer = "ps";
  static constexpr std::string_view Evaluator = "evaluator";
  static constexpr std::string_view Master = "master";  // of TensorFlow 1, in place of a chief

  TaskType(std::string name) : name_(std::move(name)) {}  // NOLINT: implicit
  TaskType(std::string_view name) : name_(name) {}        // NOLINT: implicit
  TaskType(const char* name) : name_(name) {}             // NOLINT: implicit

  /// Returns "worker", "ps", "chief", "evaluator", or another job's name.
  const std::string& name() const { return name_; }

  friend bool operator==(const TaskType& a, const TaskType& b) = default;
  friend auto operator<=>(const TaskType& a, const TaskType& b) = default;
  friend std::ostream& operator<<(std::ostream& out, const TaskType& type) {
    return out << type.name_;
  }

 private:
  std::string name_;
};

}  // namespace distribute

/// All functions throw InvalidArgumentError as validate_cluster_spec does. A task without a type
/// belongs to no job; one with a type needs an id.
/// Source  tensorflow/python/distribute/multi_worker_util.py
namespace distribute::multi_worker_util {

/// Checks the cluster and this task, in this order: the cluster has no other jobs than chief,
/// worker, ps and evaluator; the type of the task is one of these; the cluster has the job of the
/// task, unless that is evaluator; there is at most one chief, and at most one evaluator; the id of
/// the task is at least 0 and less than the number of tasks of its job.
/// Throws  InvalidArgumentError
void validate_cluster_spec(const ClusterSpec& cluster_spec,
                           const std::optional<TaskType>& task_type, std::optional<int> task_id);

/// Returns whether the task is the chief, an evaluator, or worker 0 in a cluster without a chief.
bool is_chief(const ClusterSpec& cluster_spec, const std::optional<TaskType>& task_type,
              std::optional<int> task_id);

/// Returns a number from 0 to worker_count() - 1: the chief first, then the workers.
/// Throws  also for a parameter server, and without a type.
int id_in_cluster(const ClusterSpec& cluster_spec, const std::optional<TaskType>& task_type,
                  std::optional<int> task_id);

/// Returns the number of workers with the chief; for an evaluator, the number of evaluators.
/// Throws  also for a parameter server, without a type, and for an evaluator outside the cluster.
int worker_count(const ClusterSpec& cluster_spec, const std::optional<TaskType>& task_type);

/// Returns the task that leads collectives, as "/job:worker/replica:0/task:0"; "" without a cluster
/// and for an evaluator.
/// Throws  also for a cluster with neither chief nor worker.
std::string collective_leader(const ClusterSpec& cluster_spec,
                              const std::optional<TaskType>& task_type, std::optional<int> task_id);

/// Returns the task that runs the coordination service: parameter server 0, else the chief, else
/// worker 0.
/// Throws  InvalidArgumentError for a cluster without such a task.
std::string coordination_leader(const ClusterSpec& cluster_spec);

/// Returns whether this task writes checkpoints that all may read: the chief, and a process without
/// a cluster.
bool should_save_checkpoint(const ClusterSpec& cluster_spec,
                            const std::optional<TaskType>& task_type, std::optional<int> task_id);

}  // namespace distribute::multi_worker_util
