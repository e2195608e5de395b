#pragma once
/// Training with parameter servers but without a coordinator, and placement of variables.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_spec.hpp>
#include <distribute/device/device_spec.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/tensor/shape.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute::train {

/// A variable or operation for which a device function chooses the task.
struct PlacedOp {
  std::string op = "VarHandleOp";  // a variable; others such as "MatMul"
  std::string name = {};
  Shape shape = {};
  DType dtype = DType::Float32;
};

/// Returns the parameter server task for each variable.
using PsStrategy = std::function<int(const PlacedOp&)>;
/// Returns the device of an op; `current` is the device of the enclosing scopes. Copies share their
/// state.
using DeviceFunction = std::function<DeviceSpec(const PlacedOp&, const DeviceSpec& current)>;

/// Returns tasks 0, 1, ..., n - 1, 0, ... Copies share the counter. Not thread-safe.
/// Source  tensorflow/python/training/device_setter.py _RoundRobinStrategy
class RoundRobinStrategy {
 public:
  explicit RoundRobinStrategy(int num_tasks);
  int operator()(const PlacedOp& op);

 private:
  int num_tasks_;
  std::shared_ptr<int64_t> next_;
};

/// Returns the bytes of a variable.
/// Source  tf.contrib.training.byte_size_load_fn
double byte_size_load_fn(const PlacedOp& op);

/// Returns the task with the least load so far; the first of equal ones.
/// Source  tf.contrib.training.GreedyLoadBalancingStrategy
class GreedyLoadBalancingStrategy {
 public:
  using LoadFunction = std::function<double(const PlacedOp&)>;
  explicit GreedyLoadBalancingStrategy(int num_tasks, LoadFunction load_fn = byte_size_load_fn);
  int operator()(const PlacedOp& op);

 private:
  LoadFunction load_fn_;
  std::shared_ptr<std::vector<double>> loads_;
};

struct ReplicaDeviceSetterOptions {  // options of replica_device_setter()
  int ps_tasks = 0;                  // 0: the number in `cluster`
  std::string ps_device = "/job:ps";
  std::string worker_device = "/job:worker";
  bool merge_devices = true;  // false: replaces a scope's device instead of completing it
  std::optional<ClusterSpec> cluster = {};
  std::vector<std::string> ps_ops = {};  // empty: variables
  PsStrategy ps_strategy = nullptr;      // null: round robin
};

/// Places variables on the parameter servers and everything else on `worker_device`; parts of a
/// device name that enclosing scopes set take precedence. Variables that a scope places on another
/// job do not count in the strategy. Returns null without parameter servers.
/// Source  tf.compat.v1.train.replica_device_setter
DeviceFunction replica_device_setter(ReplicaDeviceSetterOptions options = {});

}  // namespace distribute::train

namespace distribute {

class Strategy;

namespace strategy_internal {
class ParameterServerExtended;
}

/// Describes a program's job, and exchanges the state of initialization between chief and workers
/// before the first step. It refers to the strategy, which must outlive it. Thread-compatible.
/// Source  the chief's part of tf.compat.v1.train.MonitoredTrainingSession
class ParameterServerJob {
 public:
  /// Returns nullopt for other strategies, and for a ParameterServerStrategy without a cluster.
  static std::optional<ParameterServerJob> of(const Strategy& strategy);

  /// Returns the job; task_type() and so on tell this task's position in it.
  const ClusterSpec& cluster() const;
  const std::string& task_type() const;
  int task_id() const;
  bool is_chief() const;
  bool is_parameter_server() const { return task_type() == "ps"; }

  /// Returns true on a chief that found variables missing on the servers: the job is new, or a
  /// server was lost, and a checkpoint has to be restored if there is one.
  bool variables_are_new() const;
  /// Returns true on a chief that has come back to servers which hold all variables, and which an
  /// earlier chief has called initialized: nothing is to be restored.
  bool servers_have_kept_variables() const;
  /// Announces on the chief that variables have their initial values; the other workers get `note`.
  void set_initialized(const std::string& note = {}) const;
  /// Waits for set_initialized() and returns its note. `seconds` defaults to the startup timeout.
  /// Throws  DeadlineExceededError that names the chief.
  std::string wait_until_initialized(std::optional<double> seconds = {}) const;

 private:
  explicit ParameterServerJob(strategy_internal::ParameterServerExtended& extended)
      : extended_(&extended) {}

  strategy_internal::ParameterServerExtended* extended_;
};

}  // namespace distribute
