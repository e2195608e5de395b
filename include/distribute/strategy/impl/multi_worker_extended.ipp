#pragma once
#include <distribute/base/logging.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/timeline.hpp>
#include <distribute/strategy/detail/all_workers.hpp>
#include <distribute/strategy/detail/multi_worker_extended.hpp>
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/detail/sharded_slot.hpp>
#include <distribute/strategy/detail/tensor_collectives.hpp>
#include <distribute/strategy/detail/worker_reducer.hpp>
#include <distribute/strategy/devices.hpp>
#include <distribute/strategy/distributed_variable.hpp>

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE MultiWorkerExtended::MultiWorkerExtended(
    std::vector<std::string> devices, collective::WorkerGroup group, WorkerTask task,
    const CommunicationOptions& options, std::unique_ptr<ElasticWorkers> elastic, bool shard_slots)
    : LocalReplicas(std::move(devices), nullptr),
      task_(std::move(task)),
      elastic_(std::move(elastic)),
      state_(std::move(group), options, !gpus_among(local_devices()).empty(), elastic_ == nullptr,
             shard_slots),
      others_(std::make_shared<WorkersOfGroup>(state_.group)) {
  if (state_.group.timeline) timeline_row_ = state_.group.timeline->add_row("strategy.run");
}

/// A normal shutdown is not reported as a lost worker; one because of an exception is.
DISTRIBUTE_INLINE MultiWorkerExtended::~MultiWorkerExtended() {
  try {
    if (std::uncaught_exceptions() > 0 && state_.group.report_error)
      state_.group.report_error(StatusCode::Aborted,
                                "it ended because of an exception, which its own output names");
    leave();
  } catch (const std::exception& error) {
    log_warning("strategy", str_cat("leaving the cluster: ", error.what()));
  }
  forget_contexts();  // sums under way use what goes now
}

DISTRIBUTE_INLINE void MultiWorkerExtended::leave() {
  const auto leave = std::exchange(state_.group.leave, {});
  if (leave) leave();
}

DISTRIBUTE_INLINE WorkersOfGroup& WorkersOfGroup::operator=(const collective::WorkerGroup& group) {
  workers_ = group.workers;
  num_replicas_ = group.num_workers * group.replicas_per_worker;
  return *this;
}

DISTRIBUTE_INLINE void MultiWorkerExtended::work_alone() {
  leave();
  work_with(std::move(collective::make_thread_workers(1, num_local_replicas())[0]));
}

DISTRIBUTE_INLINE std::optional<ElasticGeneration> MultiWorkerExtended::join_next(
    const ElasticState& mine, const std::function<bool()>& given_up) {
  work_alone();
  collective::WorkerGroup group;
  auto next = elastic_->next(mine, given_up, [&](const std::shared_ptr<ClusterRuntime>& runtime) {
    group = collective::connect_workers(runtime, num_local_replicas(), state_.options,
                                        gpus_among(local_devices()));
  });
  if (!next) return std::nullopt;
  work_with(std::move(group));
  task_.is_chief = state_.group.worker == 0;
  return next;
}

DISTRIBUTE_INLINE void MultiWorkerExtended::work_with(collective::WorkerGroup group) {
  forget_contexts();  // sums under way use what goes now
  state_ = WorkerState(std::move(group), state_.options, state_.on_gpus, false);
  gave_up_ = false;
  *others_ = state_.group;
}

/// Until the end of the result, the next collective of the other workers waits for this worker.
DISTRIBUTE_INLINE std::shared_ptr<void> MultiWorkerExtended::work_apart() {
  if (state_.group.num_workers == 1) return nullptr;
  auto contexts = put_contexts_aside();
  auto aside = std::make_shared<WorkerState>(std::move(state_));
  state_ = WorkerState(std::move(collective::make_thread_workers(1, num_local_replicas())[0]),
                       aside->options, aside->on_gpus, false);
  *others_ = state_.group;
  return std::shared_ptr<void>(this, [this, contexts, aside](void*) mutable {
    contexts.reset();  // those of the time apart use what goes now
    state_ = std::move(*aside);
    *others_ = state_.group;
  });
}

DISTRIBUTE_INLINE int MultiWorkerExtended::num_replicas_in_sync() const {
  return state_.group.num_workers * state_.group.replicas_per_worker;
}

DISTRIBUTE_INLINE int MultiWorkerExtended::replica_id(int local_replica) const {
  return state_.group.worker * state_.group.replicas_per_worker + local_replica;
}

DISTRIBUTE_INLINE std::vector<std::string> MultiWorkerExtended::worker_devices() const {
  return devices_of_task(task_.type, task_.index);
}

DISTRIBUTE_INLINE InputContext MultiWorkerExtended::input_context() const {
  return InputContext(state_.group.num_workers, state_.group.worker, num_replicas_in_sync());
}

DISTRIBUTE_INLINE std::unique_ptr<LocalReplicaContext> MultiWorkerExtended::make_context(
    ReplicaGroup& group, int replica) {
  return make_worker_context(strategy(), group, replica, state_);
}

DISTRIBUTE_INLINE std::unique_ptr<replica_internal::GradientReducer>
MultiWorkerExtended::make_reducer(LocalReplicaContext& context) {
  return make_worker_reducer(context, state_);
}

DISTRIBUTE_INLINE void MultiWorkerExtended::call_for_each_replica(
    const std::function<void(ReplicaContext&)>& fn) {
  const collective::TimelineSpan span(state_.group.timeline.get(), timeline_row_, "run");
  LocalReplicas::call_for_each_replica(fn);
}

/// Makes a variable. Every worker evaluates its own initializer, for shape and dtype; the chief's
/// value is used.
DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> MultiWorkerExtended::make_variable(
    const NextCreator& next, const Variable::Initializer& initial_value,
    const VariableOptions& options) {
  if (state_.shards_slots && is_slot(options))
    return std::make_shared<ShardedSlot>(options, strategy(),
                                         SlotWorkers{state_.group.workers, num_local_replicas()});
  Tensor first = next(initial_value, options)->component(0);
  const VariableOptions checked = check_variable_options(options, first.dtype());
  // Elastic workers do not make their variables together; they get their values when they meet.
  if (!elastic_) first = broadcast_tensor(*state_.group.workers, first, 0);
  return make_copies(first, checked, others_);
}

DISTRIBUTE_INLINE std::vector<Tensor> gather_replicas(collective::Communicator& workers,
                                                      std::span<const Tensor> values) {
  std::vector<Tensor> all;
  for (auto& worker : all_gather_tensors(workers, values))
    for (Tensor& value : worker) all.push_back(std::move(value));
  return all;
}

/// Reduces in the order of the replicas: with several per worker their values are gathered and then
/// summed, as sums of sums would have other bits.
DISTRIBUTE_INLINE Tensor WorkersOfGroup::reduce(ReduceOp op, std::vector<Tensor> values) {
  if (values.size() == 1) return all_reduce_tensors(*workers_, op, values)[0];
  for (Tensor& value : values) value = value.row_major();
  return beside(values[0], reduce_tensors("reduce", op, gather_replicas(*workers_, values)));
}

DISTRIBUTE_INLINE Tensor MultiWorkerExtended::reduce_local(ReduceOp op,
                                                           std::vector<Tensor> values) {
  check_count("reduce", values.size());
  return others_->reduce(op, std::move(values));
}

DISTRIBUTE_INLINE Tensor MultiWorkerExtended::gather_local(std::vector<Tensor> values, int axis) {
  check_count("gather", values.size());
  for (const Tensor& value : values)
    if (is_indexed_slices(value)) throw UnimplementedError("gather does not support IndexedSlices");
  const std::vector<Tensor> all = gather_replicas(*state_.group.workers, values);
  return beside(values[0], gather_tensors("gather", all, axis));
}

/// Reduces this worker's value, which all of its replicas have.
DISTRIBUTE_INLINE Tensor MultiWorkerExtended::reduce_plain(ReduceOp op, const Tensor& value) {
  if (state_.group.num_workers == 1) return LocalReplicas::reduce_plain(op, value);
  if (op == ReduceOp::Sum && num_local_replicas() > 1)
    throw InvalidArgumentError(str_cat(
        "A non-DistributedValues value cannot be reduced with the given reduce op SUM: it is the "
        "same on the ",
        num_local_replicas(), " replicas of each worker; give a PerReplica"));
  return reduce_local(op, std::vector<Tensor>(size_t(num_local_replicas()), value));
}

DISTRIBUTE_INLINE Tensor MultiWorkerExtended::gather_plain(const Tensor& value, int axis) {
  if (state_.group.num_workers == 1) return value;
  if (is_indexed_slices(value)) throw UnimplementedError("gather does not support IndexedSlices");
  const auto all = gather_replicas(*state_.group.workers, std::span(&value, 1));
  return beside(value, gather_tensors("gather", all, axis));
}

DISTRIBUTE_INLINE bool MultiWorkerExtended::any_worker(bool mine) {
  uint8_t any = mine ? 1 : 0;
  state_.group.workers->all_reduce(&any, 1, DType::UInt8, collective::ReductionOp::Max);
  return any != 0;
}

DISTRIBUTE_INLINE std::vector<std::string> MultiWorkerExtended::all_gather_texts(
    const std::string& mine) {
  return strategy_internal::all_gather_texts(*state_.group.workers, mine);
}

DISTRIBUTE_INLINE std::vector<std::vector<Tensor>> MultiWorkerExtended::all_gather_tensors(
    const std::vector<Tensor>& mine) {
  return strategy_internal::all_gather_tensors(*state_.group.workers, mine);
}

/// Returns the number of operations that each group of this worker has begun; empty if one is
/// broken, or if its own replicas have begun different ones.
DISTRIBUTE_INLINE std::string begun_operations(const collective::WorkerGroup& group) {
  const std::optional<uint64_t> of_workers = group.workers->operations();
  if (!of_workers) return {};
  std::string text = str_cat(*of_workers);
  for (const auto* replicas : {&group.replicas, &group.gpus}) {
    if (replicas->empty()) continue;
    const std::optional<uint64_t> first = replicas->front()->operations();
    for (const auto& replica : *replicas)
      if (!first || replica->operations() != first) return {};
    text += str_cat(' ', *first);
  }
  return text;
}

/// Whether all workers have failed at the same place, as with a mistake of the program: nothing is
/// under way, and none waits for another.
DISTRIBUTE_INLINE bool MultiWorkerExtended::all_fail_alike() const {
  const std::string begun = begun_operations(state_.group);
  return !gave_up_ && !begun.empty() && state_.group.all_say && state_.group.all_say(begun);
}

/// Replicas of this worker may wait for this one in an operation that it will not begin.
DISTRIBUTE_INLINE void MultiWorkerExtended::replica_failed(const std::exception_ptr& error,
                                                           const std::atomic<int>& running) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (running > 0) {
    if (is_alone() || elastic_ || std::chrono::steady_clock::now() > end) return give_up(error);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Gives the replicas of a single worker new groups, as the groups in which they waited are broken.
DISTRIBUTE_INLINE void MultiWorkerExtended::run_failed(const std::exception_ptr& error) {
  if (!is_alone()) return report_failure(error);
  if (!gave_up_.exchange(false) && !begun_operations(state_.group).empty()) return;
  auto group = std::move(collective::make_thread_workers(1, num_local_replicas(),
                                                         {.timeline = state_.group.timeline})[0]);
  group.timeline = state_.group.timeline;
  group.leave = state_.group.leave;
  work_with(std::move(group));
}

DISTRIBUTE_INLINE void MultiWorkerExtended::report_failure(const std::exception_ptr& error) {
  if (is_alone() || (!elastic_ && all_fail_alike())) return;
  give_up(error);
}

/// Reports the failure, as the other workers must not wait for a replica that will not come.
DISTRIBUTE_INLINE void MultiWorkerExtended::give_up(const std::exception_ptr& error) {
  gave_up_ = true;
  const auto [code, message] = describe_failure(error);
  if (state_.group.report_error) state_.group.report_error(code, message);
  state_.group.abort(code, message);
}

}  // namespace distribute::strategy_internal
