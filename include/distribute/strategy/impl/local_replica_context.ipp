#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/strategy/detail/local_replica_context.hpp>
#include <distribute/strategy/detail/reduction.hpp>
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

DISTRIBUTE_INLINE void LocalReplicaContext::merge_untyped(const replica_internal::MeetingLead& lead,
                                                          void* mine) {
  check_current("merge_call");
  group_.meet_untyped(replica_, "merge_call", mine, [&](std::span<void* const> all) {
    const replica_internal::ModeScope mode(
        {nullptr, &strategy_, -1, replica_internal::mode_stack().back().group});
    lead(all);
  });
}

/// The common work of all replicas in an all_reduce; they share its ownership, as one of them may
/// fail while another still computes.
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
  static std::shared_ptr<AllReduceWork> begin(replica_internal::Meeting<AllReduceCall> calls,
                                              const strategy_internal::ReplicaGroup& group);
};

DISTRIBUTE_INLINE std::shared_ptr<LocalReplicaContext::AllReduceWork>
LocalReplicaContext::AllReduceCall::begin(replica_internal::Meeting<AllReduceCall> calls,
                                          const strategy_internal::ReplicaGroup& group) {
  const auto work = std::make_shared<AllReduceWork>();
  for (size_t r = 1; r < calls.size(); ++r) check_same(calls[0], calls[r], group);
  for (size_t i = 0; i < calls[0].values.size(); ++i) {
    std::vector<Tensor> inputs;
    calls.for_each([&](const AllReduceCall& call) { inputs.push_back(call.values[i]); });
    work->reductions.emplace_back("all_reduce", calls[0].op, std::move(inputs));
  }
  work->slices = strategy_internal::slice_reductions(work->reductions);
  calls.for_each([&](AllReduceCall& call) { call.work = work; });
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
  group_.meet(replica_, "all_reduce", call, [&](replica_internal::Meeting<AllReduceCall> calls) {
    const auto work = AllReduceCall::begin(calls, group_);
    if (work->slices.size() > 2) return;
    for (const auto& slice : work->slices)  // too little to share: done before the others go on
      work->reductions[slice.reduction].compute(slice.begin, slice.end);
  });
  if (call.work->slices.size() > 2) {
    compute_share(*call.work);
    group_.meet(replica_, "all_reduce");
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

// Each replica gets its own handle, as tapes distinguish tensors by their identity.
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
  group_.meet(replica_, "all_gather", call, [](replica_internal::Meeting<GatherCall> calls) {
    std::vector<Tensor> parts;
    calls.for_each([&](const GatherCall& one) { parts.push_back(one.value); });
    const int along = calls[0].axis;
    const Tensor whole = strategy_internal::gather_tensors("all_gather", parts, along);
    int64_t begin = 0;
    calls.for_each([&](GatherCall& one) {
      one.result = whole.renamed();
      one.begin = begin;
      begin += one.value.shape()[along];
    });
  });
  return record_all_gather(value, call.result, axis, call.begin);
}

DISTRIBUTE_INLINE void LocalReplicaContext::check_owner(
    std::span<const VariableUpdate> updates) const {
  const auto check = [&](const Variable& variable) {
    const auto* distributed = dynamic_cast<const DistributedVariable*>(&variable.impl());
    if (distributed && distributed->owner() == &strategy_) return;
    const auto* slot = dynamic_cast<const strategy_internal::StrategySlot*>(&variable.impl());
    if (slot && slot->owner() == &strategy_) return;
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

}  // namespace distribute
