#pragma once
#include <distribute/autograd/detail/gradient_placer.hpp>
#include <distribute/base/detail/core_watch.hpp>
#include <distribute/base/detail/flush_subnormals.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/base/metrics.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/device/detail/cuda_trace.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/strategy/cross_device_ops.hpp>
#include <distribute/strategy/detail/cross_device_reducer.hpp>
#include <distribute/strategy/detail/local_reducer.hpp>
#include <distribute/strategy/detail/local_replicas.hpp>
#include <distribute/strategy/detail/reducing_replica_context.hpp>
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/devices.hpp>
#include <distribute/strategy/distributed_variable.hpp>
#include <distribute/strategy/scope.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace distribute::strategy_internal {

/// A replica's share of the threads for loops, for the time of a run.
class IntraOpThreadsScope {
 public:
  explicit IntraOpThreadsScope(int threads) : outer_(intra_op_threads()) {
    set_intra_op_threads(threads);
  }
  ~IntraOpThreadsScope() { set_intra_op_threads(outer_); }
  IntraOpThreadsScope(const IntraOpThreadsScope&) = delete;
  IntraOpThreadsScope& operator=(const IntraOpThreadsScope&) = delete;

 private:
  int outer_;
};

DISTRIBUTE_INLINE LocalReplicas::LocalReplicas(std::vector<std::string> devices,
                                               std::shared_ptr<CrossDeviceOps> cross_device_ops)
    : devices_(std::move(devices)),
      cross_device_ops_(std::move(cross_device_ops)),
      spans_(std::make_shared<RunSpans>()) {
  (void)ClusterOptions::from_environment();      // wrong values are errors without others, too
  monitoring::start_metrics_sinks("127.0.0.1");  // where no cluster's runtime has done so
  log_core_limits();
}

DISTRIBUTE_INLINE void LocalReplicas::record_runs(const std::string& strategy,
                                                  const std::string& task) {
  spans_ = std::make_shared<RunSpans>(strategy, num_local_replicas(), task);
}

DISTRIBUTE_INLINE std::vector<std::string> LocalReplicas::devices_of_task(const std::string& job,
                                                                          int index) const {
  std::vector<std::string> names;
  for (const std::string& device : devices_)
    names.push_back(str_cat("/job:", job, "/replica:0/task:", index, device));
  return names;
}

DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> LocalReplicas::make_copies(
    const Tensor& first, const VariableOptions& options, std::shared_ptr<OtherWorkers> others) {
  const auto placed = [&](auto variable) {
    const std::vector<Device> devices = replica_devices();
    if (devices[0].type == DeviceType::Gpu) variable->place_on(devices);
    variable->name_cpus(worker_devices());
    return variable;
  };
  const int copies = num_local_replicas();
  if (options.synchronization == VariableSynchronization::OnRead)
    return placed(std::make_shared<SyncOnReadVariable>(first, options, strategy(), copies,
                                                       std::move(others)));
  return placed(
      std::make_shared<MirroredVariable>(first, options, strategy(), copies, std::move(others)));
}

DISTRIBUTE_INLINE LocalReplicas::Replicas& LocalReplicas::replicas_at(size_t depth) {
  while (levels_.size() <= depth) {
    levels_.push_back(std::make_unique<Replicas>(num_local_replicas()));
    levels_.back()->group.record(spans_);
  }
  Replicas& replicas = *levels_[depth];
  for (int r = int(replicas.contexts.size()); r < num_local_replicas(); ++r) {
    auto context = make_context(replicas.group, r);
    context->reduce_by(make_reducer(*context));
    replicas.contexts.push_back(std::move(context));
  }
  return replicas;
}

DISTRIBUTE_INLINE std::unique_ptr<LocalReplicaContext> LocalReplicas::make_context(
    ReplicaGroup& group, int replica) {
  if (cross_device_ops_ && !cross_device_ops_->sums_in_replica_order())
    return std::make_unique<ReducingReplicaContext>(strategy(), group, replica, cross_device_ops_);
  return std::make_unique<LocalReplicaContext>(strategy(), group, replica);
}

DISTRIBUTE_INLINE std::unique_ptr<replica_internal::GradientReducer> LocalReplicas::make_reducer(
    LocalReplicaContext& context) {
  if (cross_device_ops_ && !cross_device_ops_->sums_in_replica_order())
    return std::make_unique<CrossDeviceReducer>(context);
  return std::make_unique<LocalReducer>(context);
}

/// Returns the number of runs of this strategy that enclose the calling thread, through
/// merge_calls.
DISTRIBUTE_INLINE size_t LocalReplicas::depth_here() const {
  const auto& modes = replica_internal::mode_stack();
  return size_t(std::count_if(modes.begin(), modes.end(), [&](const auto& mode) {
    return mode.replica && mode.strategy == &strategy();
  }));
}

/// Runs a replica on its thread, with its share of the threads for loops.
DISTRIBUTE_INLINE void LocalReplicas::run_replica(Replicas& replicas, int replica,
                                                  const std::function<void(ReplicaContext&)>& fn) {
  const FlushSubnormals flush;
  LocalReplicaContext& context = *replicas.contexts[size_t(replica)];
  const DeviceScope device(parse_device_name(devices_[size_t(replica)]).device);
  const replica_internal::ModeScope mode({&context, &strategy(), -1, this});
  const GradientPlacerScope placer(context.gradient_reducer().wishes().placer);
  const monitoring::RecordedSpan own_span = spans_->replica(replica, "run");
  const profiler::experimental::Trace trace("run");
  fn(context);
  replicas.group.finish(replica);
}

DISTRIBUTE_INLINE void LocalReplicas::call_for_each_replica(
    const std::function<void(ReplicaContext&)>& fn) {
  using base_internal::ThreadContext, base_internal::ThreadContextScope;
  check_cross_replica("run");
  const size_t depth = depth_here();
  const Scope scope(strategy());
  std::unique_lock lock(run_mutex_, std::defer_lock);
  if (depth == 0) lock.lock();  // the runs around this one are this thread's
  const monitoring::RecordedSpan span = spans_->run();
  if (depth == 0) begin_run();
  Replicas& replicas = replicas_at(depth);
  std::vector<ThreadContext> contexts;  // of the replicas on threads of their own
  for (int r = 1; r < num_local_replicas(); ++r)
    contexts.push_back(ThreadContext::for_other_thread());
  // Around it the replicas wait, so that an inner run's have their shares.
  const int share = depth == 0 ? intra_op_threads() / num_local_replicas() : intra_op_threads();
  const int threads = base_internal::advised_threads(std::max(share, 1));
  replicas.group.begin();
  replicas.running = num_local_replicas();
  replicas.threads.run([&](int replica) {
    try {
      std::optional<ThreadContextScope> handed_over;
      if (replica > 0) handed_over.emplace(std::move(contexts[size_t(replica - 1)]));
      const IntraOpThreadsScope own_share(threads);
      run_replica(replicas, replica, fn);
      --replicas.running;
    } catch (...) {
      replicas.group.fail(std::current_exception());
      --replicas.running;
      replica_failed(std::current_exception(), replicas.running);
    }
  });
  try {
    replicas.group.rethrow();
  } catch (...) {
    if (depth == 0) run_failed(std::current_exception());
    replicas.contexts.clear();  // with what the step has left behind
    throw;
  }
}

DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> LocalReplicas::create_variable(
    const NextCreator& next, const Variable::Initializer& initial_value,
    const VariableOptions& options) {
  ReplicaContext* replica = get_replica_context();
  if (!replica) return make_variable(next, initial_value, options);
  struct Call {
    const std::string& name;
    std::shared_ptr<VariableImpl> made = nullptr;
  } mine{options.name};
  replica->merge(mine, [&](replica_internal::Meeting<Call> calls) {
    calls.for_each([&](const Call& call) {
      if (call.name != options.name)
        throw FailedPreconditionError(str_cat("Tried to create variable '", call.name,
                                              "' with mismatching name on another "
                                              "replica: replica 0 creates '",
                                              options.name, "'"));
    });
    const auto made = make_variable(next, initial_value, options);
    calls.for_each([&](Call& call) { call.made = made; });
  });
  return mine.made;
}

DISTRIBUTE_INLINE std::vector<Device> LocalReplicas::replica_devices() const {
  std::vector<Device> devices;
  for (const std::string& name : devices_) devices.push_back(parse_device_name(name).device);
  return devices;
}

DISTRIBUTE_INLINE std::shared_ptr<void> LocalReplicas::put_contexts_aside() {
  auto aside = std::make_shared<decltype(levels_)>(std::exchange(levels_, {}));
  return std::shared_ptr<void>(this, [this, aside](void*) { levels_ = std::move(*aside); });
}

DISTRIBUTE_INLINE void LocalReplicas::check_count(const char* method, size_t values) const {
  if (values != devices_.size())
    throw InvalidArgumentError(str_cat(method, ": the value has ", values,
                                       " components, the strategy ", devices_.size(), " replicas"));
}

DISTRIBUTE_INLINE Tensor LocalReplicas::reduce_local(ReduceOp op, std::vector<Tensor> values) {
  check_count("reduce", values.size());
  if (cross_device_ops_) return cross_device_ops_->reduce(op, values).to(values[0].device());
  return reduce_tensors("reduce", op, std::move(values));
}

DISTRIBUTE_INLINE Tensor LocalReplicas::gather_local(std::vector<Tensor> values, int axis) {
  check_count("gather", values.size());
  return gather_tensors("gather", values, axis);
}

}  // namespace distribute::strategy_internal
