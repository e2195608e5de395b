#pragma once
/// A replica whose partners are replicas of this and of other workers.

#include <distribute/base/config.hpp>
#include <distribute/collective/communication_options.hpp>
#include <distribute/collective/detail/worker_group.hpp>
#include <distribute/strategy/detail/gradient_buckets.hpp>
#include <distribute/strategy/detail/gradient_slots.hpp>
#include <distribute/strategy/detail/host_variables.hpp>
#include <distribute/strategy/detail/local_replica_context.hpp>

#include <memory>
#include <span>
#include <vector>

namespace distribute {

namespace strategy_internal {

class SharedUpdate;

/// What the replicas of one worker share.
struct WorkerState {
  /// `share_variables`: one copy for all workers of the host, which one that dies would leave half
  /// updated.
  WorkerState(collective::WorkerGroup its_group, CommunicationOptions its_options, bool is_on_gpus,
              bool share_variables);

  /// Gradients are summed while the backward pass still runs.
  bool in_buckets() const { return !host && (!on_gpus || !group.gpus.empty()); }
  /// No other worker takes part, and what is done here is done on GPUs.
  bool alone_on_gpus() const { return on_gpus && group.num_workers == 1; }

  collective::WorkerGroup group;
  CommunicationOptions options;
  bool on_gpus;
  /// Where variables and gradients may lie; none unless all workers are on this host and share.
  std::unique_ptr<HostVariables> host;
  std::vector<std::unique_ptr<GradientSlots>> slots;  // there; by local replica
  /// Where they do not all share memory: by local replica.
  std::vector<std::unique_ptr<GradientBuckets>> buckets;
  // The same on every worker, and changed by local replica 0 while the others wait:
  bool agreed = false, planned = false;
  int64_t steps_apart = 0, next_adoption = 1;
};

}  // namespace strategy_internal

/// One replica thread at a time.
class WorkerReplicaContext final : public LocalReplicaContext {
 public:
  using ReplicaContext::all_reduce;
  WorkerReplicaContext(Strategy& strategy, strategy_internal::ReplicaGroup& local, int replica,
                       strategy_internal::WorkerState& state);

  int replica_id_in_sync_group() const override { return group().rank(); }
  int num_replicas_in_sync() const override { return group().size(); }

  DISTRIBUTE_INLINE std::vector<Tensor> all_reduce(ReduceOp op,
                                                   std::span<const Tensor> values) override;
  DISTRIBUTE_INLINE Tensor all_gather(const Tensor& value, int axis) override;
  DISTRIBUTE_INLINE void gradient_ready(const Variable& variable, const Tensor& gradient) override;
  /// Where all workers share memory, in one pass over it: each replica sums the gradients of a
  /// share of the elements, in replica order, and updates the one copy of the variables.
  /// Elsewhere the sums go to every worker, in buckets, and each updates its own: over NCCL from
  /// GPU to GPU. Without it gradients of GPUs are summed all at once, in host memory.
  DISTRIBUTE_INLINE void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                                const UpdateKernel& kernel) override;
  bool multiplies_gradients() const override { return false; }  // they are sent

 private:
  using SharedWork = std::shared_ptr<strategy_internal::SharedUpdate>;

  collective::Communicator& group() const;
  strategy_internal::GradientSlots& slots() const;
  strategy_internal::GradientBuckets& buckets() const;
  void agree(std::span<const VariableUpdate> updates);
  bool update_in_shared_memory(std::span<const VariableUpdate> updates, const UpdateKernel& kernel);
  SharedWork begin_shared(std::span<const VariableUpdate> updates, const UpdateKernel& kernel);
  void update_apart(std::span<const VariableUpdate> updates, const UpdateKernel& kernel);
  std::vector<Tensor> sum_gradients(std::span<const VariableUpdate> updates);
  std::vector<Tensor> all_reduce_over_nccl(ReduceOp op, std::span<const Tensor> values);
  void move_to_shared_memory(std::span<const VariableUpdate> updates);

  strategy_internal::WorkerState& state_;
};

}  // namespace distribute
