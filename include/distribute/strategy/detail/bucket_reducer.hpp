#pragma once
/// Sums gradients between hosts, or between GPUs over NCCL.

#include <distribute/base/config.hpp>
#include <distribute/strategy/detail/gradient_buckets.hpp>
#include <distribute/strategy/detail/local_reducer.hpp>
#include <distribute/strategy/detail/worker_state.hpp>

#include <memory>
#include <span>
#include <string>

namespace distribute::strategy_internal {

/// Sums gradients in buckets during the backward pass: in host memory over the workers' transport,
/// or from GPU to GPU over NCCL if the group has it. Every worker updates its own copies with the
/// sums.
class BucketReducer final : public replica_internal::GradientReducer {
 public:
  /// `sparse` reduces the steps with sparse gradients, which buckets do not hold.
  BucketReducer(LocalReplicaContext& context, WorkerState& state,
                std::unique_ptr<replica_internal::GradientReducer> sparse);

  void missing(const std::string& names) override { local_.missing(names); }
  DISTRIBUTE_INLINE void ready(const Variable& variable, const Tensor& gradient) override;
  DISTRIBUTE_INLINE void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                                const UpdateKernel& kernel) override;

 private:
  GradientBuckets buckets_;
  const std::unique_ptr<replica_internal::GradientReducer> sparse_;
  LocalReducer local_;
};

}  // namespace distribute::strategy_internal
