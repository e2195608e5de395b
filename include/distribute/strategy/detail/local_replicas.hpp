#pragma once
/// Base of strategies with several replicas in one process: threads, contexts, reductions.

#include <distribute/base/config.hpp>
#include <distribute/strategy/detail/local_replica_context.hpp>
#include <distribute/strategy/detail/replica_group.hpp>
#include <distribute/strategy/detail/replica_threads.hpp>
#include <distribute/strategy/detail/run_spans.hpp>
#include <distribute/strategy/strategy_extended.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace distribute {

class CrossDeviceOps;
class OtherWorkers;

namespace strategy_internal {

/// One replica per device name; replica 0 runs on the calling thread.
class LocalReplicas : public StrategyExtended {
 public:
  LocalReplicas(std::vector<std::string> devices, std::shared_ptr<CrossDeviceOps> cross_device_ops);

  int num_replicas_in_sync() const override { return num_local_replicas(); }
  int num_local_replicas() const override { return int(devices_.size()); }
  /// Returns names such as "/job:localhost/replica:0/task:0/device:CPU:1".
  std::vector<std::string> worker_devices() const override {
    return devices_of_task("localhost", 0);
  }
  DISTRIBUTE_INLINE std::vector<Device> replica_devices() const override;

  /// Calls `fn` in each replica. A run inside a merge_call, while the replicas of the outer one
  /// wait, has its own replicas.
  DISTRIBUTE_INLINE void call_for_each_replica(
      const std::function<void(ReplicaContext&)>& fn) override;
  /// Creates a variable. In a replica it is made once for all, when every replica has called it
  /// with the same name.
  DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> create_variable(
      const NextCreator& next, const Variable::Initializer& initial_value,
      const VariableOptions& options) override;
  DISTRIBUTE_INLINE Tensor reduce_local(ReduceOp op, std::vector<Tensor> values) override;
  DISTRIBUTE_INLINE Tensor gather_local(std::vector<Tensor> values, int axis) override;

 protected:
  /// Records runs and meetings for DISTRIBUTE_TIMELINE. Call it once, before the first run.
  void record_runs(const std::string& strategy, const std::string& task = {});
  DISTRIBUTE_INLINE virtual std::unique_ptr<LocalReplicaContext> make_context(ReplicaGroup& group,
                                                                              int replica);
  /// Makes the reducer of the gradients of `context`'s replica.
  DISTRIBUTE_INLINE virtual std::unique_ptr<replica_internal::GradientReducer> make_reducer(
      LocalReplicaContext& context);
  /// Makes the next run create contexts and reducers anew, as the replicas' partners have changed.
  /// Call it outside of replicas.
  void forget_contexts() {
    for (const auto& level : levels_) level->contexts.clear();
  }
  /// Runs before each run, while no other is in progress.
  virtual void begin_run() {}
  /// Runs on the thread of a replica that has thrown an error. `running` counts the replicas that
  /// have not ended yet.
  virtual void replica_failed(const std::exception_ptr& error, const std::atomic<int>& running) {
    (void)error, (void)running;
  }
  /// Runs when all replicas of an outermost run have ended, one of them with this error.
  virtual void run_failed(const std::exception_ptr& error) { (void)error; }
  /// Makes runs create new contexts until the returned object is destroyed; then the old ones are
  /// restored.
  std::shared_ptr<void> put_contexts_aside();
  void check_count(const char* method, size_t values) const;
  /// Returns the devices in TensorFlow's short form; devices_of_task() as a task names them.
  const std::vector<std::string>& local_devices() const { return devices_; }
  std::vector<std::string> devices_of_task(const std::string& job, int index) const;
  /// Whether no CrossDeviceOps was given, so that the strategy chooses how it reduces.
  bool reduces_its_own_way() const { return cross_device_ops_ == nullptr; }
  /// Makes a variable with a copy of `first` on each replica's device; `others` also take part in
  /// it.
  std::shared_ptr<VariableImpl> make_copies(const Tensor& first, const VariableOptions& options,
                                            std::shared_ptr<OtherWorkers> others = nullptr);
  virtual std::shared_ptr<VariableImpl> make_variable(const NextCreator& next,
                                                      const Variable::Initializer& initial_value,
                                                      const VariableOptions& options) = 0;

 private:
  /// Replicas for one run at a time, kept for the next one.
  struct Replicas {
    explicit Replicas(int count) : group(count), threads(count) {}
    ReplicaGroup group;
    ReplicaThreads threads;
    std::vector<std::unique_ptr<LocalReplicaContext>> contexts;
    std::atomic<int> running = 0;
  };
  size_t depth_here() const;
  Replicas& replicas_at(size_t depth);
  void run_replica(Replicas& replicas, int replica, const std::function<void(ReplicaContext&)>& fn);

  std::vector<std::string> devices_;
  std::shared_ptr<CrossDeviceOps> cross_device_ops_;
  std::shared_ptr<const RunSpans> spans_;
  std::mutex run_mutex_;                           // held during the outermost run; guards levels_
  std::vector<std::unique_ptr<Replicas>> levels_;  // indexed by the number of enclosing runs
};

}  // namespace strategy_internal

}  // namespace distribute
