#pragma once
/// The replica context of a coordinator's closure.

#include <distribute/base/config.hpp>
#include <distribute/replica/detail/single_replica.hpp>
#include <distribute/strategy/detail/server_reducer.hpp>

#include <memory>
#include <utility>

namespace distribute {

/// A single replica, in which a run may be started. `link` and `staging` are as in ClosureReducer.
class ClosureReplicaContext final : public SingleReplicaContext {
 public:
  ClosureReplicaContext(Strategy& strategy, std::shared_ptr<strategy_internal::ServerAccess> link,
                        std::shared_ptr<StagingMemory> staging)
      : SingleReplicaContext(&strategy), reducer_(std::move(link), std::move(staging)) {}

 private:
  /// Enters the strategy's scope in cross-replica context, as in TensorFlow's traced functions.
  DISTRIBUTE_INLINE void merge_untyped(const replica_internal::MeetingLead& lead,
                                       void* mine) override;
  replica_internal::GradientReducer& gradient_reducer() override { return reducer_; }

  strategy_internal::ClosureReducer reducer_;
};

}  // namespace distribute
