#pragma once
/// From one generation of an elastic job's workers to the next.

#include <distribute/base/config.hpp>
#include <distribute/cluster/detail/elastic_member.hpp>
#include <distribute/cluster/detail/task_failure.hpp>
#include <distribute/cluster/elastic_options.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

class ClusterRuntime;

/// What this worker brings along, besides the list of all workers that there may be.
struct ElasticSetup {
  ElasticOptions limits;
  std::string agreement;  // JSON; what must be the same on all workers
};

/// Used by one thread.
class ElasticWorkers {
 public:
  /// Opens the port; waits for no other worker. Throws  as ElasticMember.
  ElasticWorkers(ClusterTasks all_tasks, const ElasticSetup& setup);
  ~ElasticWorkers();

  using Connect = std::function<void(const std::shared_ptr<ClusterRuntime>&)>;
  /// Meets the others and connects to them by `connect`, again when one is lost meanwhile. The
  /// previous runtime must have been left. None when the job has finished without this worker, or
  /// it has given up.
  /// Blocks and throws  as ElasticMember::meet.
  std::optional<ElasticGeneration> next(const ElasticState& mine,
                                        const std::function<bool()>& given_up,
                                        const Connect& connect);

  /// Says which task was lost, or has failed, in this generation.
  std::optional<TaskFailure> failure() const;
  /// Whether that, if anything, was this very worker by a fault of its own.
  bool failed_itself() const;
  bool has_waiting_worker() const { return member_.has_waiting_worker(); }
  void finish() { member_.finish(); }
  void withdraw() { member_.withdraw(); }
  /// The others take this worker's error for its end, and go on.
  void report_error(StatusCode code, const std::string& message);

 private:
  std::vector<int> lost() const;

  ElasticMember member_;
  std::shared_ptr<ClusterRuntime> runtime_;  // of this generation
};

}  // namespace distribute
