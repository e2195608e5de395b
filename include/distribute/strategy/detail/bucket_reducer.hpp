#pragma once
/// Gradients between hosts, or between GPUs over NCCL.

#include <distribute/base/config.hpp>
#include <distribute/strategy/detail/gradient_buckets.hpp>
#include <distribute/strategy/detail/worker_reducer.hpp>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace distribute::strategy_internal {

/// Gradients are summed in buckets while the backward pass goes on: in host memory over the
/// workers' transport, or from GPU to GPU over NCCL where the group has it. Every worker updates
/// its own copies with the sums.
class BucketReducer final : public LocalReducer {
 public:
  /// `sparse`: the way of steps with sparse gradients, which buckets do not hold.
  BucketReducer(LocalReplicaContext& context, WorkerState& state,
                std::unique_ptr<LocalReducer> sparse);

  bool multiplies_gradients() const override { return false; }  // they are sent
  DISTRIBUTE_INLINE void ready(const Variable& variable, const Tensor& gradient) override;
  DISTRIBUTE_INLINE void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                                const UpdateKernel& kernel) override;

 private:
  GradientBuckets buckets_;
  const std::unique_ptr<LocalReducer> sparse_;
};

}  // namespace distribute::strategy_internal
