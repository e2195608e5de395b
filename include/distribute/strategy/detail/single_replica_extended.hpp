#pragma once
/// Implementation of the default strategy and of OneDeviceStrategy.

#include <distribute/replica/detail/single_replica.hpp>
#include <distribute/strategy/detail/run_spans.hpp>
#include <distribute/strategy/strategy.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace distribute {

namespace strategy_internal {

/// A single replica on the calling thread; variables are plain.
class SingleReplicaExtended : public StrategyExtended {
 public:
  DISTRIBUTE_INLINE void call_for_each_replica(
      const std::function<void(ReplicaContext&)>& fn) override;
  std::shared_ptr<VariableImpl> create_variable(const NextCreator& next,
                                                const Variable::Initializer& initial_value,
                                                const VariableOptions& options) override {
    return next(initial_value, options);
  }
  Tensor reduce_local(ReduceOp, std::vector<Tensor> values) override { return values.at(0); }
  Tensor gather_local(std::vector<Tensor> values, int) override { return values.at(0); }
  DISTRIBUTE_INLINE bool variable_created_in_scope(const Variable& variable) const override;
};

/// The strategy in force outside of all others.
class DefaultExtended final : public SingleReplicaExtended {
 public:
  const char* name() const override { return "default strategy"; }
  DISTRIBUTE_INLINE std::vector<std::string> worker_devices() const override;
  DISTRIBUTE_INLINE std::vector<std::string> parameter_devices() const override;
};

class OneDeviceExtended final : public SingleReplicaExtended {
 public:
  explicit OneDeviceExtended(const std::string& device);
  DISTRIBUTE_INLINE void call_for_each_replica(
      const std::function<void(ReplicaContext&)>& fn) override;
  /// Creates the variable on the strategy's device, whatever DeviceScope is open.
  DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> create_variable(
      const NextCreator& next, const Variable::Initializer& initial_value,
      const VariableOptions& options) override;
  const char* name() const override { return "OneDeviceStrategy"; }
  DISTRIBUTE_INLINE std::vector<std::string> worker_devices() const override;
  std::vector<std::string> parameter_devices() const override { return worker_devices(); }
  DISTRIBUTE_INLINE std::vector<Device> replica_devices() const override;

 private:
  std::string device_;
  RunSpans spans_;
};

}  // namespace strategy_internal

}  // namespace distribute
