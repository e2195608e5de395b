#pragma once
/// Resolver for equal processes that know their number, their count and the address of number 0.

#include <distribute/cluster/cluster_resolver.hpp>

namespace distribute {

/// Base of the resolvers for launchers that tell ranks but no addresses (torchrun, mpirun). All
/// ranks are workers: cluster_spec() holds worker 0 alone, world_size() returns their number, and
/// they exchange addresses through worker 0.
class LeaderClusterResolver : public ClusterResolver {
 public:
  struct World {
    int rank = 0;
    int size = 1;
    std::string leader;                  // host:port
    std::optional<int> local_size = {};  // ranks on this host, if the launcher tells it
  };

  DISTRIBUTE_INLINE ClusterSpec cluster_spec() const override;
  std::optional<int> world_size() const override { return world().size; }
  /// Returns a text when the leader has a loopback address and there are several hosts.
  DISTRIBUTE_INLINE std::string incomplete_because() const override;

 protected:
  /// Returns rank, size and leader.
  /// Throws  FailedPreconditionError outside of the launcher; InvalidArgumentError for inconsistent
  ///          numbers.
  virtual World world() const = 0;
  std::optional<TaskType> find_task_type() const override { return TaskType(TaskType::Worker); }
  std::optional<int> find_task_id() const override { return world().rank; }
  DISTRIBUTE_INLINE std::string find_master(
      const std::optional<TaskType>& task_type, std::optional<int> task_id,
      const std::optional<std::string>& rpc_layer) const override;
};

namespace cluster_internal {
/// Returns the world after the check 0 <= rank < size. The names are those of the variables, for
/// errors.
LeaderClusterResolver::World checked_world(int rank, int size, std::string leader,
                                           const std::string& rank_name,
                                           const std::string& size_name);
}  // namespace cluster_internal

}  // namespace distribute
