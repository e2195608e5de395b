#pragma once
/// Strategies of one replica: the default one, and OneDeviceStrategy.

#include <distribute/base/config.hpp>
#include <distribute/strategy/strategy.hpp>

#include <string>

namespace distribute {

/// Places everything on one device, to try a distributed program without distribution. Variables
/// are plain, and reductions return their input.
/// Source  tf.distribute.OneDeviceStrategy
class OneDeviceStrategy : public Strategy {
 public:
  /// Throws  InvalidArgumentError for a name that is not a device.
  explicit OneDeviceStrategy(const std::string& device = "/cpu:0");
};

}  // namespace distribute
