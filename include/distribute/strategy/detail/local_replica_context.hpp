#pragma once
/// A replica whose partners are other threads of this process.

#include <distribute/base/config.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/detail/replica_group.hpp>

#include <string>

namespace distribute {

/// Replica `replica` of a group of threads. One replica thread at a time.
class LocalReplicaContext : public ReplicaContext {
 public:
  using ReplicaContext::all_reduce;
  LocalReplicaContext(Strategy& strategy, strategy_internal::ReplicaGroup& group, int replica)
      : strategy_(strategy), group_(group), replica_(replica) {}

  int replica_id_in_sync_group() const override { return replica_; }
  int num_replicas_in_sync() const override { return group_.size(); }
  int local_replica_id() const override { return replica_; }
  Strategy& strategy() const override { return strategy_; }

  DISTRIBUTE_INLINE std::vector<Tensor> all_reduce(ReduceOp op,
                                                   std::span<const Tensor> values) override;
  DISTRIBUTE_INLINE Tensor all_gather(const Tensor& value, int axis) override;
  DISTRIBUTE_INLINE void merge(const std::function<void(std::span<void* const>)>& fn,
                               void* argument) override;
  DISTRIBUTE_INLINE void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                                const UpdateKernel& kernel) override;
  bool multiplies_gradients() const override { return true; }
  DISTRIBUTE_INLINE void gradients_missing(const std::string& names) override;

 protected:
  void check_current(const char* method) const;
  /// Results of an all_reduce of `values`: for this replica's tape and on its devices.
  std::vector<Tensor> hand_out(ReduceOp op, std::span<const Tensor> values,
                               const std::vector<Tensor>& sums) const;
  /// For the tape: the gradients of an all_reduce are summed in the same way.
  static void record_all_reduce(ReduceOp op, std::span<const Tensor> values,
                                const std::vector<Tensor>& sums);
  /// For the tape: `value` stands in `whole` from `begin` on, along the axis. Gives `whole`.
  static Tensor record_all_gather(const Tensor& value, const Tensor& whole, int axis,
                                  int64_t begin);
  /// All replicas together, in host memory: as update(), for gradients that are there.
  void update_on_host(std::span<const VariableUpdate> updates, bool reduced,
                      const UpdateKernel& kernel);
  /// Each replica sums and updates on its own GPU.
  void update_on_gpu(std::span<const VariableUpdate> updates, bool reduced,
                     const UpdateKernel& kernel);
  /// Throws  InvalidArgumentError unless variables and slots are this strategy's.
  void check_owner(std::span<const VariableUpdate> updates) const;
  strategy_internal::ReplicaGroup& local_replicas() const { return group_; }

 private:
  struct AllReduceCall;
  struct AllReduceWork;
  struct GatherCall;
  struct UpdateCall;

  void compute_share(AllReduceWork& work) const;

  Strategy& strategy_;
  strategy_internal::ReplicaGroup& group_;
  int replica_;
  bool noted_ = false;  // gradients of the last step were missing
};

}  // namespace distribute
