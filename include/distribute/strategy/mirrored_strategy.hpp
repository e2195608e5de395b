#pragma once
/// Synchronous training on several devices of one process, with a copy of every variable on each.

#include <distribute/base/config.hpp>
#include <distribute/strategy/devices.hpp>
#include <distribute/strategy/strategy.hpp>

#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace distribute {

class CrossDeviceOps;

struct MirroredOptions {  // options of MirroredStrategy
  /// Number of logical devices of the class's kind; 0: every visible GPU, or else every logical CPU
  /// device.
  int num_replicas = 0;
  /// Device names such as "/cpu:0", in place of a number.
  std::vector<std::string> devices = {};
  /// Computes the reductions; null: the fastest available.
  std::shared_ptr<CrossDeviceOps> cross_device_ops = nullptr;
  /// Asks that the slots of optimizers are kept once, not once for each replica. Replicas on CPUs
  /// share one copy of weights and slots in any case, and each updates a slice of it, so it changes
  /// nothing there; replicas on GPUs, which have copies, refuse it. See MultiWorkerOptions.
  bool shard_optimizer_state = false;
};

namespace strategy_internal {

/// `default_devices` returns the devices if the options name none.
std::unique_ptr<StrategyExtended> make_mirrored(
    const MirroredOptions& options,
    const std::function<std::vector<std::string>()>& default_devices);

}  // namespace strategy_internal

/// Trains with one replica per device, each on its own thread; gradients are summed over the
/// replicas. TF_CONFIG is ignored.
/// Source  tf.distribute.MirroredStrategy
template <typename Kind = DefaultDevice>
class MirroredStrategy : public Strategy {  // as a type: MirroredStrategy<>
 public:
  /// Throws  InvalidArgumentError for a device that occurs twice.
  explicit MirroredStrategy(const MirroredOptions& options = {})
      : Strategy(strategy_internal::make_mirrored(options, [&] {
          return strategy_internal::devices_of(Kind(), options.num_replicas, "MirroredStrategy");
        })) {}
  /// Takes device names such as "/gpu:0"; an empty list is the same as no options.
  explicit MirroredStrategy(std::initializer_list<const char*> devices)
      : MirroredStrategy(std::vector<std::string>(devices.begin(), devices.end())) {}
  template <std::same_as<std::vector<std::string>> Names>  // keeps {.num_replicas = 2} unambiguous
  explicit MirroredStrategy(const Names& devices)
      : MirroredStrategy(MirroredOptions{.devices = devices}) {}
};

MirroredStrategy(MirroredOptions)->MirroredStrategy<DefaultDevice>;
MirroredStrategy(std::initializer_list<const char*>)->MirroredStrategy<DefaultDevice>;
template <std::same_as<std::vector<std::string>> Names>
MirroredStrategy(const Names&) -> MirroredStrategy<DefaultDevice>;

}  // namespace distribute
