#pragma once
/// Updates of variables whose slots are cut into slices.

#include <distribute/base/config.hpp>
#include <distribute/strategy/detail/local_reducer.hpp>
#include <distribute/strategy/detail/sharded_buckets.hpp>
#include <distribute/strategy/detail/worker_state.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace distribute::strategy_internal {

/// Each replica gets the sums of its slice of every variable, updates this slice with its slice of
/// the slots, and receives the other slices from their replicas. Gradients that come as sums
/// (clipped ones, scaled losses) and sparse ones, which are summed whole, need no reduce-scatter.
/// An optimizer without slots updates whole variables with them.
/// 1. The replicas of a worker share one copy of the weights: each writes its own slice into it,
///    and then a part of what the others have sent.
/// 2. Weights and slots are in the layouts of the gradients' plan while they are written.
/// Source  ZeRO stage 1, Rajbhandari et al., SC 2020
class ShardedReducer final : public replica_internal::GradientReducer {
 public:
  ShardedReducer(LocalReplicaContext& context, WorkerState& state);
  DISTRIBUTE_INLINE ~ShardedReducer() override;

  void missing(const std::string& names) override { local_.missing(names); }
  DISTRIBUTE_INLINE void ready(const Variable& variable, const Tensor& gradient) override;
  DISTRIBUTE_INLINE void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                                const UpdateKernel& kernel) override;

 private:
  struct Step;
  struct Call;

  void update_slices(std::span<const VariableUpdate> updates, const std::vector<Tensor>* whole,
                     const UpdateKernel& kernel);
  std::shared_ptr<Step> begin(std::span<const VariableUpdate> updates);
  void compute(const Step& step, std::span<const BucketPiece> pieces,
               const std::vector<Tensor>* whole, const UpdateKernel& kernel) const;
  void receive(const Step& step, size_t bucket);
  ReplicaGroup& replicas() const { return context_.local_replicas(); }
  int replica() const { return context_.local_replica_id(); }

  LocalReplicaContext& context_;
  collective::Communicator& group_;
  ShardedBuckets buckets_;
  LocalReducer local_;
  bool sparse_ = false;  // whether the last step had sparse gradients, so that the next may
};

}  // namespace distribute::strategy_internal
