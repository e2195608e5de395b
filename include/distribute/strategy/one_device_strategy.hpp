#pragma once
/// Strategies of one replica: the default one, and everything on one named device.

#include <distribute/base/config.hpp>
#include <distribute/replica/single_replica.hpp>
#include <distribute/strategy/strategy.hpp>

#include <string>

namespace distribute {

namespace strategy_internal {

/// One replica on the calling thread; variables are plain.
class SingleReplicaExtended : public StrategyExtended {
 public:
  void call_for_each_replica(const std::function<void(ReplicaContext&)>& fn) override;
  std::shared_ptr<VariableImpl> create_variable(const NextCreator& next,
                                                const Variable::Initializer& initial_value,
                                                const VariableOptions& options) override {
    return next(initial_value, options);
  }
  Tensor reduce_local(ReduceOp, std::vector<Tensor> values) override { return values.at(0); }
  Tensor gather_local(std::vector<Tensor> values, int) override { return values.at(0); }
  bool variable_created_in_scope(const Variable& variable) const override;
};

/// What is in force where no strategy is.
class DefaultExtended final : public SingleReplicaExtended {
 public:
  const char* name() const override { return "default strategy"; }
  std::vector<std::string> worker_devices() const override;
  std::vector<std::string> parameter_devices() const override;
};

class OneDeviceExtended final : public SingleReplicaExtended {
 public:
  explicit OneDeviceExtended(const std::string& device);
  void call_for_each_replica(const std::function<void(ReplicaContext&)>& fn) override;
  std::shared_ptr<VariableImpl> create_variable(const NextCreator& next,
                                                const Variable::Initializer& initial_value,
                                                const VariableOptions& options) override;
  const char* name() const override { return "OneDeviceStrategy"; }
  std::vector<std::string> worker_devices() const override { return {device_}; }
  std::vector<std::string> parameter_devices() const override { return {device_}; }
  std::vector<Device> replica_devices() const override;

 private:
  std::string device_;
};

}  // namespace strategy_internal

/// Everything on one device, to try a distributed program without distribution. Variables are
/// plain, reductions give their input.
/// Source  tf.distribute.OneDeviceStrategy
class OneDeviceStrategy : public Strategy {
 public:
  /// Throws  InvalidArgumentError for a name that is no device.
  explicit OneDeviceStrategy(const std::string& device = "/cpu:0");
};

}  // namespace distribute

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/strategy/impl/one_device_strategy.ipp>
#endif
