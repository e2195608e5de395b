#pragma once
#include <distribute/autograd/accumulate.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/cuda_stream.hpp>
#include <distribute/ops/concat.hpp>
#include <distribute/ops/slice.hpp>
#include <distribute/strategy/detail/local_replica_context.hpp>
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/detail/shared_update.hpp>
#include <distribute/strategy/distributed_variable.hpp>

#include <algorithm>
#include <memory>

namespace distribute {

DISTRIBUTE_INLINE void LocalReplicaContext::check_current(const char* method) const {
  const ReplicaContext* current = get_replica_context();
  if (current == this) return;
  if (!current)
    throw FailedPreconditionError(
        str_cat(method,
                ": Need to be inside `call_for_each_replica()`: this is cross-replica "
                "context"));
  throw FailedPreconditionError(str_cat(method, ": Mismatching ReplicaContext: the calling thread ",
                                        "computes for another replica"));
}

DISTRIBUTE_INLINE void LocalReplicaContext::merge(
    const std::function<void(std::span<void* const>)>& fn, void* argument) {
  check_current("merge_call");
  group_.meet(replica_, "merge_call", argument, [&](std::span<void* const> arguments) {
    const replica_internal::ModeScope mode(
        {nullptr, &strategy_, -1, replica_internal::mode_stack().back().group});
    fn(arguments);
  });
}

DISTRIBUTE_INLINE void LocalReplicaContext::gradients_missing(const std::string& names) {
  if (names.empty() && !noted_) return;
  noted_ = !names.empty();
  group_.note(replica_, names.empty() ? ""
                                      : "has no gradient of " + names +
                                            ": every replica must have gradients of the same "
                                            "variables, or use ApplyOptions' "
                                            ".find_unused_parameters = true, which puts zeros "
                                            "where other replicas have one");
}

/// What all replicas of an all_reduce compute together; they own it together, as one of them may
/// fail while another still works.
struct LocalReplicaContext::AllReduceWork {
  std::vector<strategy_internal::Reduction> reductions;
  std::vector<strategy_internal::ReductionSlice> slices;
};

struct LocalReplicaContext::AllReduceCall {
  ReduceOp op;
  std::span<const Tensor> values;
  std::shared_ptr<AllReduceWork> work = nullptr;

  static void check_same(const AllReduceCall& a, const AllReduceCall& b,
                         const strategy_internal::ReplicaGroup& group) {
    if (a.values.size() != b.values.size() || a.op != b.op)
      throw InvalidArgumentError(str_cat(
          "all_reduce: replicas disagree: one reduces ", a.values.size(), " tensors, another ",
          b.values.size(), a.op != b.op ? ", with another ReduceOp" : "", group.notes()));
  }
  static std::shared_ptr<AllReduceWork> begin(std::span<void* const> raw,
                                              const strategy_internal::ReplicaGroup& group);
};

DISTRIBUTE_INLINE std::shared_ptr<LocalReplicaContext::AllReduceWork>
LocalReplicaContext::AllReduceCall::begin(std::span<void* const> raw,
                                          const strategy_internal::ReplicaGroup& group) {
  const auto call = [&](size_t r) -> AllReduceCall& {
    return *static_cast<AllReduceCall*>(raw[r]);
  };
  const auto work = std::make_shared<AllReduceWork>();
  for (size_t r = 1; r < raw.size(); ++r) check_same(call(0), call(r), group);
  for (size_t i = 0; i < call(0).values.size(); ++i) {
    std::vector<Tensor> inputs;
    for (size_t r = 0; r < raw.size(); ++r) inputs.push_back(call(r).values[i]);
    work->reductions.emplace_back("all_reduce", call(0).op, std::move(inputs));
  }
  work->slices = strategy_internal::slice_reductions(work->reductions);
  for (size_t r = 0; r < raw.size(); ++r) call(r).work = work;
  return work;
}

DISTRIBUTE_INLINE void LocalReplicaContext::compute_share(AllReduceWork& work) const {
  const auto share =
      strategy_internal::share_of(int64_t(work.slices.size()), replica_, group_.size());
  parallel_for(share.end - share.begin, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = share.begin + begin; i < share.begin + end; ++i) {
      const auto& slice = work.slices[size_t(i)];
      work.reductions[slice.reduction].compute(slice.begin, slice.end);
    }
  });
}

DISTRIBUTE_INLINE std::vector<Tensor> LocalReplicaContext::all_reduce(
    ReduceOp op, std::span<const Tensor> values) {
  check_current("all_reduce");
  AllReduceCall call{op, values};
  group_.meet(replica_, "all_reduce", &call, [&](std::span<void* const> calls) {
    const auto work = AllReduceCall::begin(calls, group_);
    if (work->slices.size() > 2) return;
    for (const auto& slice : work->slices)  // too little to share: done before the others go on
      work->reductions[slice.reduction].compute(slice.begin, slice.end);
  });
  if (call.work->slices.size() > 2) {
    compute_share(*call.work);
    group_.meet(replica_, "all_reduce", nullptr, {});
  }
  std::vector<Tensor> sums;
  for (const auto& reduction : call.work->reductions) sums.push_back(reduction.result());
  return hand_out(op, values, sums);
}

DISTRIBUTE_INLINE void LocalReplicaContext::record_all_reduce(ReduceOp op,
                                                              std::span<const Tensor> values,
                                                              const std::vector<Tensor>& sums) {
  record("all_reduce", values, sums, [op, count = values.size()](const Backward& b) {
    std::vector<Tensor> known, gradients(count);
    for (size_t i = 0; i < count; ++i)
      if (b.gradient(i)) known.push_back(b.gradient(i));
    known = get_replica_context()->all_reduce(op, known);
    for (size_t i = 0, next = 0; i < count; ++i)
      if (b.gradient(i)) gradients[i] = known[next++];
    return gradients;
  });
}

DISTRIBUTE_INLINE Tensor LocalReplicaContext::record_all_gather(const Tensor& value,
                                                                const Tensor& whole, int axis,
                                                                int64_t begin) {
  return record("all_gather", {value}, whole,
                [begin, shape = value.shape(), axis](const Backward& b) {
                  const Tensor all = get_replica_context()->all_reduce(ReduceOp::Sum, b.gradient());
                  std::vector<int64_t> first(size_t(shape.rank()), 0);
                  first[size_t(shape.normalize_axis(axis))] = begin;
                  return std::vector<Tensor>{slice(all, first, shape.dims())};
                });
}

// A handle of its own for each replica: tapes tell tensors apart by their identity.
DISTRIBUTE_INLINE std::vector<Tensor> LocalReplicaContext::hand_out(
    ReduceOp op, std::span<const Tensor> values, const std::vector<Tensor>& sums) const {
  std::vector<Tensor> results;
  for (const Tensor& sum : sums) {  // logical CPUs share its memory
    const Device own = values[results.size()].device();
    results.push_back(
        (sum.device().type == own.type && own.type == DeviceType::Cpu ? sum : sum.to(own))
            .renamed());
  }
  record_all_reduce(op, values, results);
  return results;
}

struct LocalReplicaContext::GatherCall {
  const Tensor& value;
  int axis;
  int64_t begin = 0;  // where this replica's part begins
  Tensor result = {};
};

DISTRIBUTE_INLINE Tensor LocalReplicaContext::all_gather(const Tensor& value, int axis) {
  check_current("all_gather");
  GatherCall call{value, axis};
  group_.meet(replica_, "all_gather", &call, [](std::span<void* const> calls) {
    std::vector<Tensor> parts;
    for (void* raw : calls) parts.push_back(static_cast<GatherCall*>(raw)->value);
    const int along = static_cast<GatherCall*>(calls[0])->axis;
    const Tensor whole = strategy_internal::gather_tensors("all_gather", parts, along);
    int64_t begin = 0;
    for (void* raw : calls) {
      auto& one = *static_cast<GatherCall*>(raw);
      one.result = whole.renamed();
      one.begin = begin;
      begin += one.value.shape()[along];
    }
  });
  return record_all_gather(value, call.result, axis, call.begin);
}

struct LocalReplicaContext::UpdateCall {
  std::span<const VariableUpdate> updates;
  bool reduced;
  const UpdateKernel& kernel;
  const strategy_internal::ReplicaGroup& group;
  std::shared_ptr<strategy_internal::SharedUpdate> work = nullptr;

  void check_same(const UpdateCall& other, size_t replica) const;
  static std::vector<std::vector<Tensor>> gradients(std::span<void* const> calls);
};

DISTRIBUTE_INLINE void LocalReplicaContext::UpdateCall::check_same(const UpdateCall& other,
                                                                   size_t replica) const {
  if (updates.size() != other.updates.size() || reduced != other.reduced)
    throw InvalidArgumentError(str_cat("update: replica 0 updates ", updates.size(),
                                       " variables, replica ", replica, " ", other.updates.size(),
                                       group.notes()));
  for (size_t i = 0; i < updates.size(); ++i)
    if (!(updates[i].variable == other.updates[i].variable))
      throw InvalidArgumentError(str_cat(
          "update: variable ", i, " of replica 0 is '", updates[i].variable.name(),
          "', of replica ", replica, " '", other.updates[i].variable.name(), "'", group.notes()));
}

DISTRIBUTE_INLINE std::vector<std::vector<Tensor>> LocalReplicaContext::UpdateCall::gradients(
    std::span<void* const> calls) {
  const auto& first = *static_cast<UpdateCall*>(calls[0]);
  std::vector<std::vector<Tensor>> all(first.updates.size());
  for (size_t r = 0; r < calls.size(); ++r) {
    const auto& call = *static_cast<UpdateCall*>(calls[r]);
    first.check_same(call, r);
    if (r > 0 && first.reduced) continue;
    for (size_t u = 0; u < all.size(); ++u) all[u].push_back(call.updates[u].gradient);
  }
  return all;
}

DISTRIBUTE_INLINE void LocalReplicaContext::check_owner(
    std::span<const VariableUpdate> updates) const {
  const auto check = [&](const Variable& variable) {
    const auto* distributed = dynamic_cast<const DistributedVariable*>(&variable.impl());
    if (distributed && distributed->owner() == &strategy_) return;
    throw InvalidArgumentError(str_cat("Trying to update variable '", variable.name(),
                                       "' under the scope of this strategy, but it was created "
                                       "elsewhere: create model and optimizer inside "
                                       "strategy.scope()"));
  };
  for (const VariableUpdate& update : updates) {
    check(update.variable);
    for (const Variable& slot : update.slots) check(slot);
  }
}

namespace strategy_internal {

/// Gradients of all replicas, as the GPUs' replicas see each other's.
struct GpuUpdateCall {
  std::span<const VariableUpdate> updates;
  std::vector<std::span<const VariableUpdate>> all = {};  // by replica
};

/// The sum over the replicas, in replica order, on `device`: each GPU fetches what the others
/// have. (Two replicas of one GPU read each other's memory; NCCL allows no such pair.)
DISTRIBUTE_INLINE Tensor sum_over_replicas(const GpuUpdateCall& call, size_t update,
                                           Device device) {
  Tensor sum = call.all[0][update].gradient.to(device);
  for (size_t r = 1; r < call.all.size(); ++r)
    sum = autograd_internal::sum(sum, call.all[r][update].gradient.to(device), 1.0f);
  return sum;
}

}  // namespace strategy_internal

DISTRIBUTE_INLINE void LocalReplicaContext::update_on_gpu(std::span<const VariableUpdate> updates,
                                                          bool reduced,
                                                          const UpdateKernel& kernel) {
  strategy_internal::GpuUpdateCall call{updates};
  group_.meet(replica_, "update", &call, [&](std::span<void* const> raw) {
    check_owner(updates);
    std::vector<std::span<const VariableUpdate>> all;
    for (size_t r = 0; r < raw.size(); ++r) {
      const auto& one = *static_cast<strategy_internal::GpuUpdateCall*>(raw[r]);
      UpdateCall{updates, reduced, kernel, group_}.check_same(
          {one.updates, reduced, kernel, group_}, r);
      all.push_back(one.updates);
    }
    for (void* one : raw) static_cast<strategy_internal::GpuUpdateCall*>(one)->all = all;
  });
  std::vector<VariableUpdate> mine(updates.begin(), updates.end());
  for (size_t u = 0; !reduced && call.all.size() > 1 && u < mine.size(); ++u)
    mine[u].gradient = strategy_internal::sum_over_replicas(
        call, u, replica_internal::update_device(mine[u], replica_));
  for (const VariableUpdate& update : mine) replica_internal::check_update(update);
  // Gradients must live until every replica has read them: copies make their streams wait.
  group_.meet(replica_, "update", nullptr, {});
  replica_internal::update_on_gpu(mine, replica_, kernel.gpu(), 0);
}

DISTRIBUTE_INLINE void LocalReplicaContext::update(std::span<const VariableUpdate> updates,
                                                   bool gradients_are_reduced,
                                                   const UpdateKernel& kernel) {
  check_current("update");
  check_owner(updates.first(std::min<size_t>(updates.size(), 1)));  // before its copies are used
  if (!updates.empty() &&
      replica_internal::update_device(updates[0], replica_).type == DeviceType::Gpu)
    return update_on_gpu(updates, gradients_are_reduced, kernel);
  update_on_host(updates, gradients_are_reduced, kernel);
}

DISTRIBUTE_INLINE void LocalReplicaContext::update_on_host(std::span<const VariableUpdate> updates,
                                                           bool reduced,
                                                           const UpdateKernel& kernel) {
  UpdateCall call{updates, reduced, kernel, group_};
  group_.meet(replica_, "update", &call, [&](std::span<void* const> calls) {
    check_owner(updates);
    const auto work = std::make_shared<strategy_internal::SharedUpdate>(
        updates, UpdateCall::gradients(calls), kernel);
    for (void* one : calls) static_cast<UpdateCall*>(one)->work = work;
  });
  call.work->compute(replica_, group_.size(), kernel);
  group_.meet(replica_, "update", nullptr, [&](std::span<void* const>) { call.work->finish(); });
}

}  // namespace distribute
