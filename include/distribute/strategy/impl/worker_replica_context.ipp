#pragma once
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/strategy/detail/gradient_packs.hpp>
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/detail/replica_group.hpp>
#include <distribute/strategy/detail/shared_update.hpp>
#include <distribute/strategy/detail/tensor_collectives.hpp>
#include <distribute/strategy/detail/worker_replica_context.hpp>

#include <algorithm>
#include <utility>

namespace distribute {

namespace strategy_internal {

DISTRIBUTE_INLINE WorkerState::WorkerState(collective::WorkerGroup its_group,
                                           CommunicationOptions its_options, bool is_on_gpus,
                                           bool share_variables)
    : group(std::move(its_group)), options(std::move(its_options)), on_gpus(is_on_gpus) {
  // First half of a replica's shared memory: variables (replica 0's alone); second: gradients.
  for (size_t i = 0; i < group.replicas.size(); ++i) {
    const auto& replica = group.replicas[i];
    const auto mine = replica->shared_memory();
    slots.push_back(std::make_unique<GradientSlots>(mine.subspan(mine.size() / 2), replica));
    buckets.push_back(std::make_unique<GradientBuckets>(
        replica, group.gpus.empty() ? replica : group.gpus[i], options));
  }
  const auto first = group.replicas[0]->shared_memory(0);
  if (!first.empty() && share_variables && !on_gpus)
    host = std::make_unique<HostVariables>(first.first(first.size() / 2), group.replicas[0]);
}

}  // namespace strategy_internal

DISTRIBUTE_INLINE WorkerReplicaContext::WorkerReplicaContext(Strategy& strategy,
                                                             strategy_internal::ReplicaGroup& local,
                                                             int replica,
                                                             strategy_internal::WorkerState& state)
    : LocalReplicaContext(strategy, local, replica), state_(state) {}

DISTRIBUTE_INLINE collective::Communicator& WorkerReplicaContext::group() const {
  return *state_.group.replicas[size_t(local_replica_id())];
}

DISTRIBUTE_INLINE strategy_internal::GradientSlots& WorkerReplicaContext::slots() const {
  return *state_.slots[size_t(local_replica_id())];
}

DISTRIBUTE_INLINE strategy_internal::GradientBuckets& WorkerReplicaContext::buckets() const {
  return *state_.buckets[size_t(local_replica_id())];
}

DISTRIBUTE_INLINE void WorkerReplicaContext::gradient_ready(const Variable& variable,
                                                            const Tensor& gradient) {
  if (state_.in_buckets()) buckets().ready(variable, gradient);
}

DISTRIBUTE_INLINE std::vector<Tensor> WorkerReplicaContext::all_reduce(
    ReduceOp op, std::span<const Tensor> values) {
  using namespace strategy_internal;
  check_current("all_reduce");
  const bool over_nccl =
      !state_.group.gpus.empty() && std::all_of(values.begin(), values.end(), [&](const Tensor& v) {
        return ops_internal::on_gpu(v) && !is_indexed_slices(v) &&
               (op != ReduceOp::Mean || is_floating(v.dtype()));
      });
  if (!over_nccl && state_.alone_on_gpus()) return LocalReplicaContext::all_reduce(op, values);
  std::vector<Tensor> results =
      over_nccl ? all_reduce_over_nccl(op, values) : all_reduce_tensors(group(), op, values);
  record_all_reduce(op, values, results);
  return results;
}

/// Over all replicas, dtype by dtype, on this replica's GPU; dense values.
DISTRIBUTE_INLINE std::vector<Tensor> WorkerReplicaContext::all_reduce_over_nccl(
    ReduceOp op, std::span<const Tensor> values) {
  const Device gpu = current_device();
  std::vector<std::vector<Tensor>> mine;
  for (const Tensor& value : values) mine.push_back({value.row_major()});
  const auto sum = [&](const std::vector<Tensor>& pack) {
    const Tensor& all = pack[0];
    const Tensor result = Tensor::empty(all.shape(), all.dtype(), gpu);
    state_.group.gpus[size_t(local_replica_id())]->all_reduce(
        all.array().bytes(), result.array().bytes(), all.num_elements(), all.dtype(),
        strategy_internal::reduction_op(op));
    return result;
  };
  return strategy_internal::reduce_in_packs(mine, 1, sum);
}

DISTRIBUTE_INLINE Tensor WorkerReplicaContext::all_gather(const Tensor& value, int axis) {
  check_current("all_gather");
  if (state_.alone_on_gpus()) return LocalReplicaContext::all_gather(value, axis);
  if (is_indexed_slices(value))
    throw UnimplementedError("all_gather does not support IndexedSlices");
  std::vector<Tensor> parts;
  for (auto& rank : strategy_internal::all_gather_tensors(group(), std::span(&value, 1)))
    parts.push_back(std::move(rank[0]));
  const Tensor gathered = strategy_internal::gather_tensors("all_gather", parts, axis);
  const Tensor whole = strategy_internal::beside(value, gathered).renamed();
  int64_t begin = 0;
  for (int r = 0; r < group().rank(); ++r) begin += parts[size_t(r)].shape()[axis];
  return record_all_gather(value, whole, axis, begin);
}

/// Before the first step: the same variables in the same order on every rank.
DISTRIBUTE_INLINE void WorkerReplicaContext::agree(std::span<const VariableUpdate> updates) {
  std::string lines;
  for (const VariableUpdate& update : updates)
    lines += str_cat("variable '", update.variable.name(), "' ", name_of(update.variable.dtype()),
                     " ", to_string(update.variable.shape()), " with ", update.slots.size(),
                     " optimizer slots\n");
  lines += str_cat("bytes_per_pack ", state_.options.bytes_per_pack, "\n");
  try {
    strategy_internal::check_agreement(group(), "what they train", lines);
  } catch (const FailedPreconditionError& error) {
    throw FailedPreconditionError(error.what() + local_replicas().notes());
  }
}

DISTRIBUTE_INLINE bool has_sparse(std::span<const VariableUpdate> updates) {
  return std::any_of(updates.begin(), updates.end(), [](const VariableUpdate& update) {
    return is_indexed_slices(update.gradient);
  });
}

DISTRIBUTE_INLINE void WorkerReplicaContext::update(std::span<const VariableUpdate> updates,
                                                    bool gradients_are_reduced,
                                                    const UpdateKernel& kernel) {
  check_current("update");
  check_owner(updates);
  if (!state_.agreed) {
    agree(updates);
    local_replicas().meet(local_replica_id(), "agree", nullptr,
                          [&](std::span<void* const>) { state_.agreed = true; });
  }
  const bool share = state_.host && !gradients_are_reduced && !has_sparse(updates);
  if (share && state_.planned && update_in_shared_memory(updates, kernel)) return;
  if (state_.host)
    local_replicas().meet(local_replica_id(), "leave", nullptr,
                          [&](std::span<void* const>) { state_.host->leave(updates); });
  const bool in_one_process =
      state_.alone_on_gpus() && (state_.group.gpus.empty() || has_sparse(updates));
  if (gradients_are_reduced || in_one_process)
    return LocalReplicaContext::update(updates, gradients_are_reduced, kernel);
  update_apart(updates, kernel);
  if (share) move_to_shared_memory(updates);
}

/// The optimizer step on the host's one copy of the variables; null when they are not there.
DISTRIBUTE_INLINE WorkerReplicaContext::SharedWork WorkerReplicaContext::begin_shared(
    std::span<const VariableUpdate> updates, const UpdateKernel& kernel) {
  if (!slots().fits(updates) || !state_.host->holds(updates, slots())) return nullptr;
  std::vector<std::vector<Tensor>> gradients(updates.size());
  for (int rank = 0; rank < group().size(); ++rank) {
    const auto memory = group().shared_memory(rank);
    auto theirs = slots().gradients(memory.subspan(memory.size() / 2));
    for (size_t u = 0; u < updates.size(); ++u) gradients[u].push_back(std::move(theirs[u]));
  }
  auto work =
      std::make_shared<strategy_internal::SharedUpdate>(updates, std::move(gradients), kernel);
  if (work->writes_only(state_.host->memory())) return work;
  work->finish();  // somebody holds an old value: it may not be overwritten
  return nullptr;
}

DISTRIBUTE_INLINE bool WorkerReplicaContext::update_in_shared_memory(
    std::span<const VariableUpdate> updates, const UpdateKernel& kernel) {
  const bool home = slots().fits(updates) && slots().bring_home(updates);
  SharedWork work;
  const auto meet = [&](const strategy_internal::ReplicaGroup::Lead& lead) {
    local_replicas().meet(local_replica_id(), "update", &work, lead);
  };
  meet([&](std::span<void* const> all) {
    const SharedWork begun = begin_shared(updates, kernel);
    for (void* one : all) *static_cast<SharedWork*>(one) = begun;
  });
  // Everybody's gradients are visible once this is done.
  int32_t ready = home && work ? 1 : 0;
  group().all_reduce(&ready, 1, DType::Int32, collective::ReductionOp::Min);
  if (ready) {
    work->compute(group().rank(), group().size(), kernel);
    group().barrier();
  }
  if (work) meet([&](std::span<void* const>) { work->finish(); });
  return ready;
}

/// Over all replicas; in buckets where that helps.
DISTRIBUTE_INLINE std::vector<Tensor> WorkerReplicaContext::sum_gradients(
    std::span<const VariableUpdate> updates) {
  const bool in_buckets = state_.in_buckets() && !has_sparse(updates);
  if (in_buckets && !buckets().fits(updates)) buckets().plan(updates);
  if (in_buckets) return buckets().reduce(updates);
  std::vector<Tensor> gradients;
  for (const VariableUpdate& update : updates) gradients.push_back(update.gradient);
  return strategy_internal::all_reduce_tensors(group(), ReduceOp::Sum, gradients);
}

DISTRIBUTE_INLINE void WorkerReplicaContext::update_apart(std::span<const VariableUpdate> updates,
                                                          const UpdateKernel& kernel) {
  std::vector<Tensor> sums = sum_gradients(updates);
  std::vector<VariableUpdate> reduced(updates.begin(), updates.end());
  for (size_t u = 0; u < reduced.size(); ++u) reduced[u].gradient = std::move(sums[u]);
  LocalReplicaContext::update(reduced, true, kernel);
}

/// After a step apart: plans the slots, and moves the variables once their values are the same on
/// all workers. Tried after 1, 2, 4, ... steps apart, as comparing costs time.
DISTRIBUTE_INLINE void WorkerReplicaContext::move_to_shared_memory(
    std::span<const VariableUpdate> updates) {
  if (!slots().fits(updates)) slots().plan(updates, group());
  local_replicas().meet(local_replica_id(), "share", nullptr, [&](std::span<void* const>) {
    state_.planned = true;
    if (++state_.steps_apart < state_.next_adoption || !slots().fits(updates)) return;
    state_.next_adoption *= 2;
    state_.host->adopt(updates, slots(), *state_.group.workers);
  });
}

}  // namespace distribute
