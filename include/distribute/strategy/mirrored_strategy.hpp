#pragma once
/// Synchronous training on several devices of one process, a copy of every variable on each.

#include <distribute/base/config.hpp>
#include <distribute/strategy/devices.hpp>
#include <distribute/strategy/local_replicas.hpp>
#include <distribute/strategy/strategy.hpp>

#include <atomic>
#include <concepts>
#include <exception>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace distribute {

class CrossDeviceOps;

struct MirroredOptions {
  /// That many logical CPU devices; 0: every visible GPU, or else every logical CPU device.
  int num_replicas = 0;
  /// Instead of a number: names such as "/cpu:0".
  std::vector<std::string> devices = {};
  /// How reductions are computed; null for the fastest that there is.
  std::shared_ptr<CrossDeviceOps> cross_device_ops = nullptr;
};

namespace strategy_internal {

struct WorkerState;

/// Replicas on GPUs of their own are one worker whose gradients NCCL sums, where that is there.
class MirroredExtended : public LocalReplicas {
 public:
  explicit MirroredExtended(std::vector<std::string> devices,
                            std::shared_ptr<CrossDeviceOps> cross_device_ops = nullptr);
  ~MirroredExtended() override;
  const char* name() const override { return "MirroredStrategy"; }
  std::vector<std::string> parameter_devices() const override { return worker_devices(); }
  bool supports_per_replica_input() const override { return true; }

 protected:
  std::unique_ptr<LocalReplicaContext> make_context(ReplicaGroup& group, int replica) override;
  void begin_run() override;
  void replica_failed(const std::exception_ptr& error) override;
  std::shared_ptr<VariableImpl> make_variable(const NextCreator& next,
                                              const Variable::Initializer& initial_value,
                                              const VariableOptions& options) override;

 private:
  std::unique_ptr<WorkerState> nccl_;     // null: gradients are added by copies
  std::atomic<bool> has_failed_ = false;  // the group is of no use any more
};

std::unique_ptr<StrategyExtended> make_mirrored(std::vector<std::string> default_devices,
                                                const MirroredOptions& options);

}  // namespace strategy_internal

/// One replica per device, each on a thread of its own; gradients are summed over the replicas.
/// TF_CONFIG is ignored.
/// Source  tf.distribute.MirroredStrategy
template <typename Kind = DefaultDevice>
class MirroredStrategy : public Strategy {
 public:
  /// Throws  InvalidArgumentError for no devices or the same twice.
  explicit MirroredStrategy(const MirroredOptions& options = {})
      : Strategy(strategy_internal::make_mirrored(
            strategy_internal::devices_of(Kind(), options.num_replicas), options)) {}
  explicit MirroredStrategy(std::initializer_list<const char*> devices)
      : MirroredStrategy(std::vector<std::string>(devices.begin(), devices.end())) {}
  template <std::same_as<std::vector<std::string>> Names>  // keeps {.num_replicas = 2} unambiguous
  explicit MirroredStrategy(const Names& devices)
      : Strategy(std::make_unique<strategy_internal::MirroredExtended>(devices)) {}
};

MirroredStrategy(MirroredOptions)->MirroredStrategy<DefaultDevice>;
MirroredStrategy(std::initializer_list<const char*>)->MirroredStrategy<DefaultDevice>;
template <std::same_as<std::vector<std::string>> Names>
MirroredStrategy(const Names&) -> MirroredStrategy<DefaultDevice>;

}  // namespace distribute

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/strategy/impl/mirrored_strategy.ipp>
#endif
