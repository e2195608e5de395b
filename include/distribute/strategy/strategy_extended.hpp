#pragma once
/// StrategyExtended: the interface that each kind of strategy implements.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/data/input_context.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/replica/values.hpp>
#include <distribute/strategy/cross_device_ops.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute {

/// Holds the options of run(), all of them about XLA and TPUs. TensorFlow's other strategies ignore
/// them; this library refuses what it cannot do.
/// Source  tf.distribute.RunOptions
struct RunOptions {
  /// Lets batches of replicas differ in size: they always may, and false is refused.
  bool experimental_enable_dynamic_batch_size = true;
  /// Pads to a power of two so that XLA compiles less often: true is refused.
  bool experimental_bucketizing_dynamic_shape = false;

  /// Checks that the options ask for nothing that this library cannot do.
  /// Throws  UnimplementedError that names the option.
  void check() const;
};

class Strategy;

/// Additional interface of a strategy, for libraries; users call Strategy. Thread-safe where
/// Strategy is.
/// Source  tf.distribute.StrategyExtended
class StrategyExtended : public SyncGroup {
 public:
  using NextCreator = std::function<std::shared_ptr<VariableImpl>(const Variable::Initializer&,
                                                                  const VariableOptions&)>;

  StrategyExtended() = default;
  ~StrategyExtended() override = default;
  StrategyExtended(const StrategyExtended&) = delete;
  StrategyExtended& operator=(const StrategyExtended&) = delete;

  /// Returns a name for messages, such as "MirroredStrategy".
  virtual const char* name() const = 0;
  int num_replicas_in_sync() const override { return 1; }
  virtual int num_local_replicas() const { return 1; }
  /// Returns the number of a local replica in the whole job, from 0.
  virtual int replica_id(int local_replica) const { return local_replica; }
  /// Throws  FailedPreconditionError on the default strategy.
  virtual std::vector<std::string> worker_devices() const = 0;
  virtual std::vector<std::string> parameter_devices() const = 0;
  /// Returns the devices of the local replicas; empty if the replicas choose them.
  virtual std::vector<Device> replica_devices() const { return {}; }

  /// Calls `fn` once per local replica, all at the same time, each in its replica context.
  /// Throws  the first exception of any replica.
  virtual void call_for_each_replica(const std::function<void(ReplicaContext&)>& fn) = 0;
  /// Makes a variable of this strategy's kind; `next` makes a plain one.
  virtual std::shared_ptr<VariableImpl> create_variable(const NextCreator& next,
                                                        const Variable::Initializer& initial_value,
                                                        const VariableOptions& options) = 0;
  /// Reduces over all replicas in sync, from one tensor of each local replica.
  virtual Tensor reduce_local(ReduceOp op, std::vector<Tensor> values) = 0;
  virtual Tensor gather_local(std::vector<Tensor> values, int axis) = 0;
  /// Reduces over all replicas in sync a tensor that belongs to no replica: the same on all of
  /// them, or each worker's own.
  /// Throws  InvalidArgumentError for the sum of a value that several replicas share, unless it is
  ///          zero.
  DISTRIBUTE_INLINE virtual Tensor reduce_plain(ReduceOp op, const Tensor& value);
  virtual Tensor gather_plain(const Tensor& value, int axis) {
    (void)axis;
    return value;
  }
  /// Returns true if any worker passes true; every worker calls it.
  virtual bool any_worker(bool mine) { return mine; }
  /// Returns the texts (or tensors) of all workers, the chief's first; every worker calls it.
  DISTRIBUTE_INLINE virtual std::vector<std::string> all_gather_texts(const std::string& mine);
  DISTRIBUTE_INLINE virtual std::vector<std::vector<Tensor>> all_gather_tensors(
      const std::vector<Tensor>& mine);
  /// Tells the other workers that this one gives up; they get the same error. If all of them fail
  /// at the same place, no worker waits for another, and the job can continue.
  virtual void report_failure(const std::exception_ptr&) {}
  /// Keeps, while the returned object lives, writes of this process to variables on servers local,
  /// and reads what is kept; null if variables are this process's own. Call it outside of run.
  DISTRIBUTE_INLINE virtual std::shared_ptr<void> keep_values_here();
  /// Makes, while the returned object lives, this process's replicas meet no other worker's; null
  /// if there is no other. Call it outside of run.
  DISTRIBUTE_INLINE virtual std::shared_ptr<void> work_apart();
  /// Ends this worker's part of the job in order, before a process exits without destructors.
  /// Blocks  until all workers have called it, or the timeout is over.
  virtual void leave() {}
  /// Returns why a step of its replicas cannot be recorded as CUDA graphs; empty if it can.
  virtual std::string recording_problem() const {
    return num_replicas_in_sync() > 1 ? "several replicas step together" : "";
  }
  /// Returns this process's number among the tasks of its job, as in TF_CONFIG.
  virtual int task_id() const { return 0; }
  /// Returns the number of workers of the job, also those with their own loop beside parameter
  /// servers.
  virtual int num_workers() const { return int(input_context().num_input_pipelines()); }
  /// Returns which part of the input this process reads, and the number of replicas in all.
  virtual InputContext input_context() const { return InputContext(1, 0, num_replicas_in_sync()); }
  /// Throws  InvalidArgumentError on a coordinator: functions that it sends read the elements.
  virtual void check_reads_input() const {}
  /// Returns whether each replica may have its own input pipeline.
  virtual bool supports_per_replica_input() const { return false; }
  /// Returns true on the process that writes checkpoints and summaries.
  virtual bool should_checkpoint() const { return true; }
  /// Returns whether a coordinator in this process distributes the steps among workers.
  virtual bool has_coordinator() const { return false; }

  /// Reduces the replicas' values to one, with a copy on each device of `destinations`. A plain
  /// tensor is treated as by Strategy::reduce.
  /// Throws  InvalidArgumentError for no destination or one in another process, and for the sum of
  ///          a value that is the same on several replicas, unless it is zero;
  ///          FailedPreconditionError in a replica.
  Mirrored<Tensor> reduce_to(ReduceOpArgument op, const ReduceValue& value,
                             const Destinations& destinations);
  std::vector<Mirrored<Tensor>> batch_reduce_to(
      ReduceOpArgument op, const std::vector<std::pair<ReduceValue, Destinations>>& values);

  /// Calls fn(variable, args...) for each copy of the variable; inside, the variable is that copy
  /// and PerReplica arguments are that replica's. In a replica it uses a merge_call.
  /// Throws  FailedPreconditionError for a variable of another strategy.
  template <typename Fn, typename... Args>
  auto update(const Variable& variable, Fn&& fn, const Args&... args);

  /// Places, while it lives, variables made on this thread on the devices of a given variable.
  class [[nodiscard]] ColocationScope {
   public:
    explicit ColocationScope(const Variable& variable);

   private:
    VariableCreatorScope creator_;
  };
  /// Colocates new variables with `variable`. With parameter servers they are whole, on the server
  /// of `variable`, and are not counted by round-robin placement. Variables of other strategies are
  /// on the same devices anyway.
  /// Throws  InvalidArgumentError when the variable is another strategy's, or cut into shards;
  ///          FailedPreconditionError outside this strategy's scope.
  ColocationScope colocate_vars_with(const Variable& variable);
  DISTRIBUTE_INLINE virtual bool variable_created_in_scope(const Variable& variable) const;
  /// Returns the distributed variable of a component; components are tensors here, so it returns
  /// the variable itself.
  Variable value_container(const Variable& variable) const { return variable; }

  /// Returns the strategy whose implementation this is.
  Strategy& strategy() const { return *strategy_; }

 protected:
  template <typename Fn, typename... Args>
  auto update_components(const Variable& variable, Fn& fn, const Args&... args);
  /// Returns the calling thread's replica of this strategy, or null.
  ReplicaContext* merging_replica() const;
  /// Runs `fn(component)` in update context.
  void for_each_component(const Variable& variable, const std::function<void(int)>& fn);
  void check_in_scope(const char* method) const;

 private:
  void check_task(const Destinations& destinations) const;
  /// Reduces over all replicas in sync.
  Tensor reduce_value(ReduceOp op, const ReduceValue& value);
  friend class Strategy;
  Strategy* strategy_ = nullptr;  // set by its owner
};

template <typename Fn, typename... Args>
auto StrategyExtended::update_components(const Variable& variable, Fn& fn, const Args&... args) {
  using Result = std::decay_t<std::invoke_result_t<
      Fn&, const Variable&, const typename replica_internal::ReplicaPart<Args>::type&...>>;
  const auto call = [&]([[maybe_unused]] int component) {
    return fn(variable, replica_internal::ReplicaPart<Args>::of(args, size_t(component))...);
  };
  if constexpr (std::is_void_v<Result>) {
    for_each_component(variable, call);
  } else {
    std::vector<Result> results;
    for_each_component(variable, [&](int component) { results.push_back(call(component)); });
    return Mirrored<Result>(std::move(results));
  }
}

template <typename Fn, typename... Args>
auto StrategyExtended::update(const Variable& variable, Fn&& fn, const Args&... args) {
  using Result = decltype(update_components(variable, fn, args...));
  constexpr bool kPlain = (!replica_internal::ReplicaPart<Args>::kDistributed && ...);
  ReplicaContext* replica = merging_replica();
  if (!replica) return update_components(variable, fn, args...);
  const auto update_once = [&](const auto&... all) {
    if constexpr (std::is_void_v<Result>)
      update_components(variable, fn, all...);
    else
      return std::vector{update_components(variable, fn, all...)};
  };
  if constexpr (!kPlain)
    throw InvalidArgumentError("update: in a replica, arguments may not be PerReplica");
  else if constexpr (std::is_void_v<Result>)
    replica->merge_call([&](Strategy&, const PerReplica<Args>&... all) { update_once(all...); },
                        args...);
  else
    return replica
        ->merge_call([&](Strategy&, const PerReplica<Args>&... all) { return update_once(all...); },
                     args...)
        .front();
}

namespace strategy_internal {
std::unique_ptr<StrategyExtended> make_default_extended();
Tensor reduce_single(ReduceOp op, const Tensor& value, int replicas);
}  // namespace strategy_internal

}  // namespace distribute
