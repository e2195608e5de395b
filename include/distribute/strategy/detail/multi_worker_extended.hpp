#pragma once
/// Implementation of MultiWorkerMirroredStrategy.

#include <distribute/base/config.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/elastic_workers.hpp>
#include <distribute/strategy/detail/local_replicas.hpp>
#include <distribute/strategy/detail/worker_replica_context.hpp>
#include <distribute/strategy/distributed_variable.hpp>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute::strategy_internal {

/// This worker's place in the cluster. A plain value.
struct WorkerTask {
  std::string type = "worker";
  int index = 0;
  bool is_chief = true;
};

/// Reduces over the replicas of all workers, from cross-replica context.
class WorkersOfGroup final : public OtherWorkers {
 public:
  explicit WorkersOfGroup(const collective::WorkerGroup& group) { *this = group; }
  /// Takes the group of an elastic job's next generation. No call may be in progress.
  WorkersOfGroup& operator=(const collective::WorkerGroup& group);
  DISTRIBUTE_INLINE Tensor reduce(ReduceOp op, std::vector<Tensor> values) override;
  int num_replicas() const override { return num_replicas_; }

 private:
  std::shared_ptr<collective::Communicator> workers_;
  int num_replicas_ = 1;
};

/// Local replicas that are part of a larger group.
/// 1. Every worker makes the same calls in the same order.
/// 2. A failure of one replica ends the group for all, unless every worker fails at the same place.
/// 3. A group that ended is not used again.
class MultiWorkerExtended final : public LocalReplicas {
 public:
  MultiWorkerExtended(std::vector<std::string> devices, collective::WorkerGroup group,
                      WorkerTask task, const CommunicationOptions& options,
                      std::unique_ptr<ElasticWorkers> elastic = nullptr, bool shard_slots = false);
  DISTRIBUTE_INLINE ~MultiWorkerExtended() override;

  const char* name() const override { return "MultiWorkerMirroredStrategy"; }
  DISTRIBUTE_INLINE int num_replicas_in_sync() const override;
  DISTRIBUTE_INLINE int replica_id(int local_replica) const override;
  /// Returns names such as "/job:worker/replica:0/task:1/device:CPU:0".
  DISTRIBUTE_INLINE std::vector<std::string> worker_devices() const override;
  std::vector<std::string> parameter_devices() const override { return worker_devices(); }
  DISTRIBUTE_INLINE Tensor reduce_plain(ReduceOp op, const Tensor& value) override;
  DISTRIBUTE_INLINE Tensor gather_plain(const Tensor& value, int axis) override;
  DISTRIBUTE_INLINE void call_for_each_replica(
      const std::function<void(ReplicaContext&)>& fn) override;
  DISTRIBUTE_INLINE Tensor reduce_local(ReduceOp op, std::vector<Tensor> values) override;
  DISTRIBUTE_INLINE Tensor gather_local(std::vector<Tensor> values, int axis) override;
  DISTRIBUTE_INLINE bool any_worker(bool mine) override;
  DISTRIBUTE_INLINE std::vector<std::string> all_gather_texts(const std::string& mine) override;
  DISTRIBUTE_INLINE std::vector<std::vector<Tensor>> all_gather_tensors(
      const std::vector<Tensor>& mine) override;
  DISTRIBUTE_INLINE void report_failure(const std::exception_ptr& error) override;
  DISTRIBUTE_INLINE std::shared_ptr<void> work_apart() override;
  DISTRIBUTE_INLINE void leave() override;
  int task_id() const override { return task_.index; }
  DISTRIBUTE_INLINE InputContext input_context() const override;
  bool should_checkpoint() const override { return task_.is_chief; }

  /// Returns the workers of a job that may change; null if they may not.
  ElasticWorkers* elastic() const { return elastic_.get(); }
  /// Leaves the current workers and joins the next generation; returns nullopt as
  /// ElasticWorkers::next. Variables keep their values. Call it outside of run.
  /// Throws  as ElasticWorkers::next.
  std::optional<ElasticGeneration> join_next(const ElasticState& mine,
                                             const std::function<bool()>& given_up = {});
  /// Leaves the current workers and continues alone; a chief stays chief.
  void work_alone();

  collective::WorkerGroup& group() { return state_.group; }
  const WorkerTask& task() const { return task_; }

 protected:
  DISTRIBUTE_INLINE std::unique_ptr<LocalReplicaContext> make_context(ReplicaGroup& group,
                                                                      int replica) override;
  DISTRIBUTE_INLINE std::unique_ptr<replica_internal::GradientReducer> make_reducer(
      LocalReplicaContext& context) override;
  /// Makes a variable with the value of the chief's initializer on every worker.
  DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> make_variable(
      const NextCreator& next, const Variable::Initializer& initial_value,
      const VariableOptions& options) override;
  DISTRIBUTE_INLINE void replica_failed(const std::exception_ptr& error,
                                        const std::atomic<int>& running) override;
  DISTRIBUTE_INLINE void run_failed(const std::exception_ptr& error) override;

 private:
  void work_with(collective::WorkerGroup group);
  /// Whether no other worker takes part or may join later.
  bool is_alone() const { return state_.group.num_workers == 1 && !elastic_; }
  bool all_fail_alike() const;
  void give_up(const std::exception_ptr& error);

  WorkerTask task_;
  std::unique_ptr<ElasticWorkers> elastic_;
  WorkerState state_;
  std::shared_ptr<WorkersOfGroup> others_;
  std::atomic<bool> gave_up_ = false;  // set when the groups cannot be used any more
  int timeline_row_ = 0;
};

}  // namespace distribute::strategy_internal
