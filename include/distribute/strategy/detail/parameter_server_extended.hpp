#pragma once
/// Implementation of ParameterServerStrategy.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_spec.hpp>
#include <distribute/parameter_server/parameter_server.hpp>
#include <distribute/strategy/detail/local_replicas.hpp>
#include <distribute/strategy/detail/remote_variable.hpp>
#include <distribute/strategy/detail/server_access.hpp>
#include <distribute/strategy/parameter_server_job.hpp>
#include <distribute/strategy/scope.hpp>
#include <distribute/strategy/sharded_variable.hpp>

#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

namespace rpc {
class JobTask;
}

namespace strategy_internal {

/// This process's place in a job with parameter servers. A plain value.
struct ServerJob {
  ClusterSpec cluster = {};
  std::string type = "worker";
  int index = 0;
  bool is_chief = true;
  std::shared_ptr<rpc::JobTask> task = nullptr;  // null: no cluster
  // null without a cluster, and on a server
  std::shared_ptr<parameter_server::Client> client = nullptr;
  parameter_server::ServerOptions server_options = {};  // for a server
};

/// How variables are made; must be equal on all tasks.
struct VariablePlacement {
  Partitioner partitioner = nullptr;
  train::DeviceFunction device_setter = nullptr;
};

/// Local replicas, on CPUs or GPUs, whose variables are on servers or, without a cluster, on the
/// CPU of this process. The gradients of the replicas of one process are summed here and sent as
/// one update.
class ParameterServerExtended final : public LocalReplicas, public HasChiefTexts {
 public:
  ParameterServerExtended(std::vector<std::string> devices, ServerJob job,
                          VariablePlacement placement, const PushOptions& push);
  DISTRIBUTE_INLINE ~ParameterServerExtended() override;

  const char* name() const override { return "ParameterServerStrategy"; }
  DISTRIBUTE_INLINE std::vector<std::string> worker_devices() const override;
  DISTRIBUTE_INLINE std::vector<std::string> parameter_devices() const override;
  DISTRIBUTE_INLINE void call_for_each_replica(
      const std::function<void(ReplicaContext&)>& fn) override;
  DISTRIBUTE_INLINE bool variable_created_in_scope(const Variable& variable) const override;
  bool should_checkpoint() const override { return job_.is_chief; }
  DISTRIBUTE_INLINE std::shared_ptr<void> keep_values_here() override;
  int task_id() const override { return job_.index; }
  DISTRIBUTE_INLINE int num_workers() const override;
  /// Waits until the pushed gradients are applied; on the chief it also ends the job.
  DISTRIBUTE_INLINE void leave() override;

  const ServerJob& job() const { return job_; }
  /// Returns null without a cluster.
  const std::shared_ptr<ServerAccess>& link() const { return link_; }
  bool is_parameter_server() const { return job_.type == "ps"; }
  /// True on a chief that found variables missing on the servers: the job is new, or a server was
  /// lost, and a checkpoint has to be restored if there is one.
  bool variables_are_new() const { return link_ ? link_->has_created() : true; }
  /// True on a chief that has come back to servers which hold all variables, and which an earlier
  /// chief has called initialized: training continues with them, and nothing is to be restored.
  bool servers_have_kept_variables();

  /// Announces on the chief that variables have their initial values, read from a checkpoint or
  /// new; the other workers get `note`. It does nothing without a cluster.
  void set_initialized(const std::string& note = {});
  /// Waits for set_initialized() and returns its note. `seconds` defaults to the startup timeout.
  /// Throws  DeadlineExceededError that names the chief.
  std::string wait_until_initialized(std::optional<double> seconds = {});

  /// Runs a function that a coordinator has sent: strategy.run, reductions and apply_gradients may
  /// be called in it, and it may create variables. The servers skip writes of this function that
  /// they have from an earlier attempt.
  void run_closure(const std::function<void()>& fn,
                   const parameter_server::UpdateOrigin& origin = {});
  /// Notes that a coordinator distributes the work: run() outside a closure warns, once, and
  /// distributed datasets cannot be read there.
  void set_coordinated() { coordinated_ = warns_ = true; }
  DISTRIBUTE_INLINE void check_reads_input() const override;
  bool has_coordinator() const override { return coordinated_; }
  std::shared_ptr<ChiefTexts> chief_texts() const override { return chief_texts_; }

 protected:
  DISTRIBUTE_INLINE std::unique_ptr<replica_internal::GradientReducer> make_reducer(
      LocalReplicaContext& context) override;
  DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> make_variable(
      const NextCreator& next, const Variable::Initializer& initial_value,
      const VariableOptions& options) override;

 private:
  std::shared_ptr<VariableImpl> make_whole_or_cut(const NextCreator& next,
                                                  const Variable::Initializer& initial_value,
                                                  const VariableOptions& options);
  std::shared_ptr<VariableImpl> make_shards(const NextCreator& next,
                                            const Variable::Initializer& initial_value,
                                            const VariableOptions& options, int64_t shards);
  std::shared_ptr<VariableImpl> make_one(const NextCreator& next,
                                         const Variable::Initializer& initial_value,
                                         const VariableOptions& options);
  std::shared_ptr<VariableImpl> make_here(const NextCreator& next,
                                          const Variable::Initializer& initial_value,
                                          const VariableOptions& options);
  bool keeps_for_itself() const;
  std::shared_ptr<VariableImpl> make_remote(const Variable::Initializer& initial_value,
                                            const VariableOptions& options);
  std::optional<int> server_for(const VariableOptions& options) const;
  std::string unique_key(const std::string& name);
  void warn_outside_closures();
  bool on_gpus() const { return staging_ != nullptr; }

  const ServerJob job_;
  const VariablePlacement placement_;
  const std::shared_ptr<StagingMemory> staging_;  // null: no replica is on a GPU
  const std::shared_ptr<ServerAccess> link_;
  const std::shared_ptr<ChiefTexts> chief_texts_;  // null: no cluster, or a server
  const int exceptions_;                           // exceptions in flight at construction
  std::atomic<bool> coordinated_{false}, warns_{false};
  bool left_ = false;
  std::mutex mutex_;  // guards names_
  std::map<std::string, int> names_;
};

/// Returns the implementation of a ParameterServerStrategy; null for other strategies.
ParameterServerExtended* parameter_server_extended(const Strategy& strategy);

}  // namespace strategy_internal
}  // namespace distribute
