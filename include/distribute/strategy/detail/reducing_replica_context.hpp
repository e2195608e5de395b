#pragma once
/// Context of a replica of this process whose sums are computed by the program's CrossDeviceOps.

#include <distribute/base/config.hpp>
#include <distribute/strategy/cross_device_ops.hpp>
#include <distribute/strategy/detail/local_replica_context.hpp>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace distribute {

/// A replica whose all_reduce calls the cross-device operations of the program, once for all
/// replicas. One replica thread at a time.
class ReducingReplicaContext final : public LocalReplicaContext {
 public:
  ReducingReplicaContext(Strategy& strategy, strategy_internal::ReplicaGroup& group, int replica,
                         std::shared_ptr<CrossDeviceOps> ops)
      : LocalReplicaContext(strategy, group, replica), ops_(std::move(ops)) {}

  using LocalReplicaContext::all_reduce;
  DISTRIBUTE_INLINE std::vector<Tensor> all_reduce(ReduceOp op,
                                                   std::span<const Tensor> values) override;

 private:
  struct Call;
  std::shared_ptr<CrossDeviceOps> ops_;
};

}  // namespace distribute
