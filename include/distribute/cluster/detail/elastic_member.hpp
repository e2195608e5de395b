#pragma once
/// Where the workers of an elastic job meet, again whenever one leaves or wants to join, and agree
/// who makes the next steps together.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_tasks.hpp>
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

/// One for each worker of an elastic job, as long as the process lives; it owns the task's port.
/// Every worker must have the same list of all workers that there may be, with addresses. The
/// lowest that is there gathers the others; afterwards rank 0 of the generation keeps those who
/// want to join. Used by one thread, beside the thread of the port.
/// Source  the rendezvous of torchrun (generations, min and max, last call)
class ElasticMember {
 public:
  /// `agreement`: JSON that must be equal on a worker and on the one that gathers.
  /// Throws  InvalidArgumentError for limits or a list that make no job; FailedPreconditionError
  ///         when the port is taken.
  ElasticMember(ClusterTasks all_tasks, ElasticLimits limits, ClusterOptions options,
                const std::string& agreement);
  /// With the task's port open already.
  ElasticMember(ClusterTasks all_tasks, ElasticLimits limits, ClusterOptions options,
                const std::string& agreement, net::Listener listener);
  ~ElasticMember();
  ElasticMember(const ElasticMember&) = delete;
  ElasticMember& operator=(const ElasticMember&) = delete;

  /// The next generation, with this worker; none when the job has finished without it, or when
  /// `given_up` says so, which is asked a few times a second.
  /// `lost`: indices in the list that need not be waited for.
  /// Blocks  until enough have come: while fewer than min_workers are there at most limits.timeout.
  /// Throws  UnavailableError with those who are missing; FailedPreconditionError with the
  ///         difference when this worker was started with other options.
  std::optional<ElasticGeneration> meet(const ElasticState& mine, const std::vector<int>& lost = {},
                                        const std::function<bool()>& given_up = {});
  /// Whether a worker waits here that the generation has room for; false but on rank 0.
  bool has_waiting_worker() const;
  /// Tells workers that wait, or come later, that the job has finished and needs no more of them.
  void finish();

  /// This worker will not come again: the others need not wait for it.
  void withdraw();

  /// For ClusterRuntime::join with a generation.
  std::shared_ptr<TaskServer> server() const;
  const ClusterTasks& all_tasks() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute
