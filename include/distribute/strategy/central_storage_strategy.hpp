#pragma once
/// Synchronous training on several devices of one process, with the variables on one of them.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/strategy/strategy.hpp>

#include <string>
#include <vector>

namespace distribute {

struct CentralStorageOptions {  // options of CentralStorageStrategy
  /// Number of logical devices that compute: GPUs, or CPUs if there are no GPUs; 0: all of them.
  int num_replicas = 0;
  /// Device names such as "/cpu:0", in place of a number.
  std::vector<std::string> compute_devices = {};
  /// Device that holds the variables; empty: the CPU, or the compute device if there is only one.
  std::string parameter_device = {};
};

/// Trains with one replica per compute device; all of them read and update the one copy of each
/// variable. A GPU reads a copy of it, which is made once for each value.
/// Source  tf.distribute.experimental.CentralStorageStrategy
class CentralStorageStrategy : public Strategy {
 public:
  explicit CentralStorageStrategy(EmptyBraces) : CentralStorageStrategy() {}
  explicit CentralStorageStrategy(const CentralStorageOptions& options = {});
};

}  // namespace distribute
