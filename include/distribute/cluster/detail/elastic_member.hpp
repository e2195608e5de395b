#pragma once
/// Meetings of the workers of an elastic job, held whenever one leaves or wants to join, in which
/// they agree on the next generation.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/detail/elastic_generation.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

namespace net {
class Listener;
}
class TaskServer;

/// A worker's part in the meetings. Used by one thread, beside the thread of the port.
/// 1. Each worker of an elastic job has one for the life of its process; it owns the task's port.
/// 2. Every worker has the same list of all possible workers, with addresses.
/// 3. The present worker with the lowest index gathers the others; afterwards rank 0 of the
///    generation keeps the connections of workers that want to join.
/// Source  the rendezvous of torchrun (generations, min and max, last call)
class ElasticMember {
 public:
  /// `agreement` is JSON that must be equal on a worker and on the one that gathers.
  /// Throws  InvalidArgumentError for inconsistent limits or lists; FailedPreconditionError when
  ///          the port is taken.
  ElasticMember(ClusterTasks all_tasks, ElasticLimits limits, ClusterOptions options,
                const std::string& agreement);
  /// Uses the task's port, which is open already.
  ElasticMember(ClusterTasks all_tasks, ElasticLimits limits, ClusterOptions options,
                const std::string& agreement, net::Listener listener);
  ~ElasticMember();
  ElasticMember(const ElasticMember&) = delete;
  ElasticMember& operator=(const ElasticMember&) = delete;

  /// Returns the next generation with this worker; nullopt when the job has finished without it, or
  /// when `given_up`, which is called a few times a second, returns true. `lost` are indices in the
  /// list that need not be waited for.
  /// Blocks  until enough have come: while fewer than min_workers are there at most limits.timeout.
  /// Throws  UnavailableError with the missing workers; FailedPreconditionError with the difference
  ///          when this worker was started with other options.
  std::optional<ElasticGeneration> meet(const ElasticState& mine, const std::vector<int>& lost = {},
                                        const std::function<bool()>& given_up = {});
  /// Whether a worker waits here for which the generation has room; always false except on rank 0.
  bool has_waiting_worker() const;
  /// Tells workers that wait, or come later, that the job has finished.
  void finish();

  /// Announces that this worker will not come again, so that the others need not wait for it.
  void withdraw();

  /// Returns the server of the port, for ClusterRuntime::join with a generation.
  std::shared_ptr<TaskServer> server() const;
  const ClusterTasks& all_tasks() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute
