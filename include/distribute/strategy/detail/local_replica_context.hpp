#pragma once
/// Context of a replica whose partners are other threads of this process.

#include <distribute/base/config.hpp>
#include <distribute/replica/detail/gradient_reducer.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/detail/replica_group.hpp>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace distribute {

/// Replica `replica` of a group of threads. One replica thread at a time.
class LocalReplicaContext : public ReplicaContext {
 public:
  using ReplicaContext::all_gather;
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

  /// Sets the reducer of its gradients.
  void reduce_by(std::unique_ptr<replica_internal::GradientReducer> reducer) {
    reducer_ = std::move(reducer);
  }
  DISTRIBUTE_INLINE replica_internal::GradientReducer& gradient_reducer() override {
    return *reducer_;
  }
  // The following functions are for reducers.
  void check_current(const char* method) const;
  /// Throws  InvalidArgumentError unless variables and slots are this strategy's.
  void check_owner(std::span<const VariableUpdate> updates) const;
  strategy_internal::ReplicaGroup& local_replicas() const { return group_; }

 protected:
  /// Distributes results of an all_reduce of `values`: recorded on this replica's tape and on its
  /// devices.
  std::vector<Tensor> hand_out(ReduceOp op, std::span<const Tensor> values,
                               const std::vector<Tensor>& sums) const;
  /// Records on the tape that the gradients of an all_reduce are summed in the same way.
  static void record_all_reduce(ReduceOp op, std::span<const Tensor> values,
                                const std::vector<Tensor>& sums);
  /// Records on the tape that `value` is the part of `whole` from `begin` on, along the axis.
  /// Returns `whole`.
  static Tensor record_all_gather(const Tensor& value, const Tensor& whole, int axis,
                                  int64_t begin);

 private:
  DISTRIBUTE_INLINE void merge_untyped(const replica_internal::MeetingLead& lead,
                                       void* mine) override;
  struct AllReduceCall;
  struct AllReduceWork;
  struct GatherCall;

  void compute_share(AllReduceWork& work) const;

  Strategy& strategy_;
  strategy_internal::ReplicaGroup& group_;
  int replica_;
  std::unique_ptr<replica_internal::GradientReducer> reducer_;
};

}  // namespace distribute
