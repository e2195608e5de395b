#pragma once
/// Synchronous training on several devices of one process, the variables on one of them.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/strategy/strategy.hpp>

#include <string>
#include <vector>

namespace distribute {

struct CentralStorageOptions {  // of CentralStorageStrategy
  /// That many logical devices compute: GPUs, or CPUs where there is none; 0: all of them.
  int num_replicas = 0;
  /// Instead of a number: names such as "/cpu:0".
  std::vector<std::string> compute_devices = {};
  /// Where the variables are; empty: the CPU, or the compute device when there is only one.
  std::string parameter_device = {};
};

/// One replica per compute device; all read and update the one copy of each variable. A GPU reads a
/// copy of it, which is made once for each value.
/// Source  tf.distribute.experimental.CentralStorageStrategy
class CentralStorageStrategy : public Strategy {
 public:
  explicit CentralStorageStrategy(EmptyBraces) : CentralStorageStrategy() {}
  explicit CentralStorageStrategy(const CentralStorageOptions& options = {});
};

}  // namespace distribute
