#pragma once
/// Implementation of MirroredStrategy.

#include <distribute/strategy/detail/local_replicas.hpp>

#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace distribute {

namespace strategy_internal {

class NcclReplicas;

/// If each replica has its own GPU and NCCL is available, they form one worker whose gradients NCCL
/// sums.
class MirroredExtended : public LocalReplicas {
 public:
  explicit MirroredExtended(std::vector<std::string> devices,
                            std::shared_ptr<CrossDeviceOps> cross_device_ops = nullptr);
  DISTRIBUTE_INLINE ~MirroredExtended() override;
  const char* name() const override { return "MirroredStrategy"; }
  std::vector<std::string> parameter_devices() const override { return worker_devices(); }
  bool supports_per_replica_input() const override { return true; }
  DISTRIBUTE_INLINE std::string recording_problem() const override;

 protected:
  DISTRIBUTE_INLINE std::unique_ptr<LocalReplicaContext> make_context(ReplicaGroup& group,
                                                                      int replica) override;
  DISTRIBUTE_INLINE std::unique_ptr<replica_internal::GradientReducer> make_reducer(
      LocalReplicaContext& context) override;
  DISTRIBUTE_INLINE void begin_run() override;
  DISTRIBUTE_INLINE void replica_failed(const std::exception_ptr& error,
                                        const std::atomic<int>& running) override;
  DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> make_variable(
      const NextCreator& next, const Variable::Initializer& initial_value,
      const VariableOptions& options) override;

 private:
  std::unique_ptr<NcclReplicas> nccl_;  // null: gradients are added by copies
};

}  // namespace strategy_internal

}  // namespace distribute
