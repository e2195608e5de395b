#pragma once
/// The replica that a coordinator's closure is.

#include <distribute/base/config.hpp>
#include <distribute/replica/detail/single_replica.hpp>
#include <distribute/strategy/detail/server_reducer.hpp>

#include <memory>
#include <utility>

namespace distribute {

/// One replica, which may also start a run of its own. `link` and `staging` as of ClosureReducer.
class ClosureReplicaContext final : public SingleReplicaContext {
 public:
  ClosureReplicaContext(Strategy& strategy, std::shared_ptr<strategy_internal::ServerAccess> link,
                        std::shared_ptr<StagingMemory> staging)
      : SingleReplicaContext(&strategy), reducer_(std::move(link), std::move(staging)) {}

  /// Across replicas the strategy is in scope, as in TensorFlow's traced functions.
  DISTRIBUTE_INLINE void merge(const std::function<void(std::span<void* const>)>& fn,
                               void* argument) override;

 private:
  replica_internal::GradientReducer& gradient_reducer() override { return reducer_; }

  strategy_internal::ClosureReducer reducer_;
};

}  // namespace distribute
