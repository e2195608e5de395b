#pragma once
/// The replica context of strategies with one replica: everything is local.

#include <distribute/base/config.hpp>
#include <distribute/replica/detail/single_reducer.hpp>
#include <distribute/replica/replica_context.hpp>

namespace distribute {

/// The context of replica 0 of 1. Reductions return their input.
class SingleReplicaContext : public ReplicaContext {
 public:
  using ReplicaContext::all_gather;
  using ReplicaContext::all_reduce;
  /// A null strategy stands for the default strategy.
  explicit SingleReplicaContext(Strategy* strategy) : strategy_(strategy) {}
  int replica_id_in_sync_group() const override { return 0; }
  int num_replicas_in_sync() const override { return 1; }
  DISTRIBUTE_INLINE Strategy& strategy() const override;
  std::vector<Tensor> all_reduce(ReduceOp, std::span<const Tensor> values) override {
    return {values.begin(), values.end()};
  }
  Tensor all_gather(const Tensor& value, int) override { return value; }

 private:
  replica_internal::GradientReducer& gradient_reducer() override { return reducer_; }
  DISTRIBUTE_INLINE void merge_untyped(const replica_internal::MeetingLead& lead,
                                       void* mine) override;

  Strategy* strategy_;
  replica_internal::SingleReducer reducer_;
};

}  // namespace distribute
