#pragma once
/// Implementation of CentralStorageStrategy.

#include <distribute/strategy/central_storage_strategy.hpp>
#include <distribute/strategy/detail/local_replicas.hpp>

#include <memory>
#include <string>
#include <vector>

namespace distribute {

class StagingMemory;

namespace strategy_internal {

class CentralStorageExtended final : public LocalReplicas {
 public:
  explicit CentralStorageExtended(const CentralStorageOptions& options);
  const char* name() const override { return "CentralStorageStrategy"; }
  std::vector<std::string> parameter_devices() const override { return {parameter_device_}; }

 protected:
  DISTRIBUTE_INLINE std::unique_ptr<replica_internal::GradientReducer> make_reducer(
      LocalReplicaContext& context) override;
  DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> make_variable(
      const NextCreator& next, const Variable::Initializer& initial_value,
      const VariableOptions& options) override;

 private:
  Device home() const;

  std::string parameter_device_;
  std::shared_ptr<StagingMemory> staging_;  // null: there are only CPUs
};

}  // namespace strategy_internal

}  // namespace distribute
