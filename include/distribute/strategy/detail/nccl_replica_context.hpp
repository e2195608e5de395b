#pragma once
/// Context of a replica on a GPU that reaches its partners' GPUs over NCCL.

#include <distribute/base/config.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/strategy/detail/local_replica_context.hpp>

#include <concepts>
#include <span>
#include <utility>
#include <vector>

namespace distribute {

namespace strategy_internal {

/// Whether NCCL can reduce these values: they are dense, on GPUs, and for means of a dtype that has
/// means.
bool goes_over_nccl(ReduceOp op, std::span<const Tensor> values);

/// Sums over the replicas of `gpus`, dtype by dtype, on the calling thread's GPU.
std::vector<Tensor> all_reduce_over_nccl(collective::Communicator& gpus, ReduceOp op,
                                         std::span<const Tensor> values);

}  // namespace strategy_internal

/// Reduces over NCCL. Values that NCCL does not reduce are left to `Rest`: LocalReplicaContext, by
/// copies between the GPUs of a process, or WorkerReplicaContext, over the workers' transport. One
/// replica thread at a time.
template <std::derived_from<LocalReplicaContext> Rest>
class NcclReplicaContext final : public Rest {
 public:
  using ReplicaContext::all_reduce;
  /// `arguments` are those of Rest.
  template <typename... Arguments>
  explicit NcclReplicaContext(collective::Communicator& gpus, Arguments&&... arguments)
      : Rest(std::forward<Arguments>(arguments)...), gpus_(gpus) {}

  std::vector<Tensor> all_reduce(ReduceOp op, std::span<const Tensor> values) override {
    this->check_current("all_reduce");
    if (!strategy_internal::goes_over_nccl(op, values)) return Rest::all_reduce(op, values);
    std::vector<Tensor> sums = strategy_internal::all_reduce_over_nccl(gpus_, op, values);
    this->record_all_reduce(op, values, sums);
    return sums;
  }

 private:
  collective::Communicator& gpus_;
};

}  // namespace distribute
