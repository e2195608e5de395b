#pragma once
/// Synchronous training on several devices of one process, the variables on one of them.

#include <distribute/base/config.hpp>
#include <distribute/device/cuda_staging.hpp>
#include <distribute/strategy/local_replicas.hpp>
#include <distribute/strategy/strategy.hpp>

#include <memory>
#include <string>
#include <vector>

namespace distribute {

struct CentralStorageOptions {
  /// That many logical devices compute: GPUs, or CPUs where there is none; 0: all of them.
  int num_replicas = 0;
  /// Instead of a number: names such as "/cpu:0".
  std::vector<std::string> compute_devices = {};
  /// Where the variables are; empty: the CPU, or the compute device when there is only one.
  std::string parameter_device = {};
};

namespace strategy_internal {

class CentralStorageExtended final : public LocalReplicas {
 public:
  explicit CentralStorageExtended(const CentralStorageOptions& options);
  const char* name() const override { return "CentralStorageStrategy"; }
  std::vector<std::string> parameter_devices() const override { return {parameter_device_}; }

 protected:
  std::unique_ptr<LocalReplicaContext> make_context(ReplicaGroup& group, int replica) override;
  std::shared_ptr<VariableImpl> make_variable(const NextCreator& next,
                                              const Variable::Initializer& initial_value,
                                              const VariableOptions& options) override;

 private:
  Device home() const;

  std::string parameter_device_;
  std::shared_ptr<StagingMemory> staging_;  // null: there are only CPUs
};

}  // namespace strategy_internal

/// One replica per compute device; all read and update the one copy of each variable. A GPU reads a
/// copy of it, which is made once for each value.
/// Source  tf.distribute.experimental.CentralStorageStrategy
class CentralStorageStrategy : public Strategy {
 public:
  explicit CentralStorageStrategy(const CentralStorageOptions& options = {});
};

}  // namespace distribute

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/strategy/impl/central_storage_strategy.ipp>
#endif
