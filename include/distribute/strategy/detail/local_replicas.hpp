#pragma once
/// What strategies with several replicas in one process share: threads, contexts, reductions.

#include <distribute/base/config.hpp>
#include <distribute/strategy/detail/local_replica_context.hpp>
#include <distribute/strategy/detail/replica_group.hpp>
#include <distribute/strategy/detail/replica_threads.hpp>
#include <distribute/strategy/detail/run_spans.hpp>
#include <distribute/strategy/strategy_extended.hpp>

#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace distribute {

class CrossDeviceOps;
class OtherWorkers;

namespace strategy_internal {

/// One replica per device name, replica 0 on the calling thread.
class LocalReplicas : public StrategyExtended {
 public:
  LocalReplicas(std::vector<std::string> devices, std::shared_ptr<CrossDeviceOps> cross_device_ops);

  int num_replicas_in_sync() const override { return group_.size(); }
  int num_local_replicas() const override { return group_.size(); }
  std::vector<std::string> worker_devices() const override { return devices_; }
  DISTRIBUTE_INLINE std::vector<Device> replica_devices() const override;

  DISTRIBUTE_INLINE void call_for_each_replica(
      const std::function<void(ReplicaContext&)>& fn) override;
  /// In a replica: once for all, when every replica has come with the same name.
  DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> create_variable(
      const NextCreator& next, const Variable::Initializer& initial_value,
      const VariableOptions& options) override;
  DISTRIBUTE_INLINE Tensor reduce_local(ReduceOp op, std::vector<Tensor> values) override;
  DISTRIBUTE_INLINE Tensor gather_local(std::vector<Tensor> values, int axis) override;

 protected:
  /// Runs and meetings are recorded for DISTRIBUTE_TIMELINE; once, before the first run.
  void record_runs(const std::string& strategy, const std::string& task = {});
  DISTRIBUTE_INLINE virtual std::unique_ptr<LocalReplicaContext> make_context(ReplicaGroup& group,
                                                                              int replica);
  /// The way of the gradients of `context`'s replica.
  DISTRIBUTE_INLINE virtual std::unique_ptr<replica_internal::GradientReducer> make_reducer(
      LocalReplicaContext& context);
  /// The next run makes contexts and reducers anew, as the replicas' partners have changed. Outside
  /// of replicas.
  void forget_contexts() { contexts_.clear(); }
  /// Before each run, while no other is under way.
  virtual void begin_run() {}
  /// The first error of a run, before the other replicas have ended.
  virtual void replica_failed(const std::exception_ptr& error) { (void)error; }
  void check_count(const char* method, size_t values) const;
  /// True when no CrossDeviceOps was given, so that the strategy chooses how it reduces.
  bool reduces_its_own_way() const { return cross_device_ops_ == nullptr; }
  /// A variable with a copy of `first` on each replica's device; `others` also take part in it.
  std::shared_ptr<VariableImpl> make_copies(const Tensor& first, const VariableOptions& options,
                                            std::shared_ptr<OtherWorkers> others = nullptr);
  virtual std::shared_ptr<VariableImpl> make_variable(const NextCreator& next,
                                                      const Variable::Initializer& initial_value,
                                                      const VariableOptions& options) = 0;

 private:
  void make_contexts();
  void check_not_inside() const;

  std::vector<std::string> devices_;
  std::shared_ptr<CrossDeviceOps> cross_device_ops_;
  std::shared_ptr<const RunSpans> spans_;
  ReplicaGroup group_;
  ReplicaThreads threads_;
  std::mutex run_mutex_;  // one run at a time: guards group_, threads_, contexts_
  std::vector<std::unique_ptr<LocalReplicaContext>> contexts_;
};

}  // namespace strategy_internal

}  // namespace distribute
