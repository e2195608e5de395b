#pragma once
/// Connects the workers of one generation of an elastic job after the other.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/detail/elastic_member.hpp>
#include <distribute/cluster/detail/task_failure.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

class ClusterRuntime;

/// Settings of this worker, besides the list of all possible workers.
struct ElasticSetup {
  ElasticOptions limits;
  std::string agreement;  // JSON that must be equal on all workers
};

/// Connects to the other workers, anew in each generation. Used by one thread.
class ElasticWorkers {
 public:
  /// Opens the port without waiting for other workers. Throws  as ElasticMember.
  ElasticWorkers(ClusterTasks all_tasks, const ElasticSetup& setup);
  ~ElasticWorkers();

  using Connect = std::function<void(const std::shared_ptr<ClusterRuntime>&)>;
  /// Meets the other workers and connects to them by `connect`, again when one is lost meanwhile.
  /// The previous runtime must have been left. Returns nullopt when the job has finished without
  /// this worker, or it has given up.
  /// Blocks  and throws as ElasticMember::meet.
  std::optional<ElasticGeneration> next(const ElasticState& mine,
                                        const std::function<bool()>& given_up,
                                        const Connect& connect);

  /// Returns the task that was lost, or has failed, in this generation.
  std::optional<TaskFailure> failure() const;
  /// Whether this worker itself failed, by its own error.
  bool failed_itself() const;
  bool has_waiting_worker() const { return member_.has_waiting_worker(); }
  void finish() { member_.finish(); }
  void withdraw() { member_.withdraw(); }
  /// Reports this worker's error; the others count it as lost and continue.
  void report_error(StatusCode code, const std::string& message);

 private:
  std::vector<int> lost() const;

  ElasticMember member_;
  std::shared_ptr<ClusterRuntime> runtime_;  // of the current generation
};

}  // namespace distribute
