#pragma once
/// One rank's part in a job of hvd operations. Ranks announce operations by name, in any order, and
/// carry them out in the order that the coordinator decides.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/detail/task_failure.hpp>
#include <distribute/horovod/detail/engine_options.hpp>
#include <distribute/horovod/detail/operation.hpp>
#include <distribute/horovod/detail/rank_place.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute {
class ClusterRuntime;
}

namespace distribute::horovod_internal {

class ElasticJob;
struct EngineThread;

/// Thread-safe. It uses one thread, and on rank 0 a second one for the coordinator.
class Engine {
 public:
  /// Every rank makes one engine. A null `runtime` makes a job of one rank.
  /// Throws  what the runtime throws.
  Engine(std::shared_ptr<ClusterRuntime> runtime, const EngineOptions& options);
  Engine(const Engine&) = delete;
  ~Engine();

  int rank() const;
  int size() const;
  const RankPlace& place() const;
  const char* transport() const;

  /// A name with the number of the call of this kind in a process set: "allreduce.noname.3".
  std::string next_name(Kind kind, int32_t process_set);
  /// Announces the operation, at the latest after a cycle's time; an empty name becomes
  /// next_name().
  /// Throws  InvalidArgumentError when an operation of that name still runs; the error that has
  ///         ended the job.
  std::shared_ptr<Operation> submit(Request request, Part part = {});
  /// Announces the waiting operations now.
  void flush();
  bool is_done(const Operation& operation);
  /// Waits for an operation.
  /// Blocks  until it is done. Throws  its error.
  void wait(const Operation& operation);

  /// Gives the ranks of a process set, in order.
  /// Throws  InvalidArgumentError when no set has the number.
  std::vector<int> members(int32_t process_set) const;

  /// The tasks of the job with their addresses; empty for a job of one rank.
  ClusterTasks tasks() const;
  /// The failure that has ended the job for all ranks, if a task was lost or has failed.
  std::optional<TaskFailure> failure() const;
  /// The elastic job; null when ranks cannot join or leave.
  std::shared_ptr<ElasticJob> elastic_job() const;
  void set_elastic_job(std::shared_ptr<ElasticJob> job);

  bool stopped() const;
  /// Leaves the job; operations that still run fail.
  /// Blocks  until all ranks have called it, at most the shutdown timeout.
  void stop();

 private:
  std::unique_ptr<EngineThread> impl_;
};

}  // namespace distribute::horovod_internal
