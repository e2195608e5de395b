#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/sum_order.hpp>
#include <distribute/strategy/detail/local_reducer.hpp>
#include <distribute/strategy/detail/shared_update.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace distribute::strategy_internal {

/// The part of a replica that the others read.
struct LocalReducer::Call {
  std::span<const VariableUpdate> updates;
  bool reduced;
  const ReplicaGroup& group;
  std::shared_ptr<SharedUpdate> work = nullptr;           // in host memory: of all together
  std::vector<std::span<const VariableUpdate>> all = {};  // on GPUs: by replica

  void check_same(const Call& other, size_t replica) const;
  static std::vector<std::vector<Tensor>> gradients(replica_internal::Meeting<Call> calls);
};

DISTRIBUTE_INLINE void LocalReducer::update(std::span<const VariableUpdate> updates,
                                            bool gradients_are_reduced,
                                            const UpdateKernel& kernel) {
  context_.check_current("update");
  // The owner is checked before the variable's copies are used.
  context_.check_owner(updates.first(std::min<size_t>(updates.size(), 1)));
  if (!updates.empty() &&
      replica_internal::update_device(updates[0], replica()).type == DeviceType::Gpu)
    return update_on_gpu(updates, gradients_are_reduced, kernel);
  update_on_host(updates, gradients_are_reduced, kernel);
}

DISTRIBUTE_INLINE void LocalReducer::update_on_host(std::span<const VariableUpdate> updates,
                                                    bool reduced, const UpdateKernel& kernel) {
  Call call{updates, reduced, replicas()};
  replicas().meet(replica(), "update", call, [&](replica_internal::Meeting<Call> calls) {
    context_.check_owner(updates);
    const auto work = std::make_shared<SharedUpdate>(updates, Call::gradients(calls), kernel);
    calls.for_each([&](Call& one) { one.work = work; });
  });
  call.work->compute(replica(), replicas().size(), kernel);
  replicas().meet(replica(), "update", [&] { call.work->finish(); });
}

/// Returns gradients by variable and replica; if they are reduced, only replica 0's.
DISTRIBUTE_INLINE std::vector<std::vector<Tensor>> LocalReducer::Call::gradients(
    replica_internal::Meeting<Call> calls) {
  const Call& first = calls[0];
  std::vector<std::vector<Tensor>> all(first.updates.size());
  for (size_t r = 0; r < calls.size(); ++r) {
    first.check_same(calls[r], r);
    if (r > 0 && first.reduced) continue;
    for (size_t u = 0; u < all.size(); ++u) all[u].push_back(calls[r].updates[u].gradient);
  }
  return all;
}

DISTRIBUTE_INLINE void LocalReducer::Call::check_same(const Call& other, size_t replica) const {
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

/// Returns the sum over the replicas, in the order of a tree, on `device`: each GPU copies the
/// gradients of the others. (Two replicas of one GPU read each other's memory; NCCL allows no such
/// pair.)
DISTRIBUTE_INLINE Tensor sum_over_replicas(
    const std::vector<std::span<const VariableUpdate>>& replicas, size_t update, Device device) {
  return collective::combine_in_order(
      0, int(replicas.size()),
      [&](int r) { return replicas[size_t(r)][update].gradient.to(device); },
      [](const Tensor& a, const Tensor& b) { return autograd_internal::sum(a, b, 1.0f); });
}

DISTRIBUTE_INLINE void LocalReducer::update_on_gpu(std::span<const VariableUpdate> updates,
                                                   bool reduced, const UpdateKernel& kernel) {
  if (replicas().size() > 1 && RecordedStep::current())
    return update_in_recording(updates, reduced, kernel);
  Call call{updates, reduced, replicas()};
  replicas().meet(replica(), "update", call, [&](replica_internal::Meeting<Call> calls) {
    context_.check_owner(updates);
    std::vector<std::span<const VariableUpdate>> all;
    for (size_t r = 0; r < calls.size(); ++r) {
      call.check_same(calls[r], r);
      all.push_back(calls[r].updates);
    }
    calls.for_each([&](Call& one) { one.all = all; });
  });
  std::vector<VariableUpdate> mine(updates.begin(), updates.end());
  for (size_t u = 0; !reduced && call.all.size() > 1 && u < mine.size(); ++u)
    mine[u].gradient =
        sum_over_replicas(call.all, u, replica_internal::update_device(mine[u], replica()));
  for (const VariableUpdate& update : mine) replica_internal::check_update(update);
  // Gradients must live until every replica has read them: copies make their streams wait.
  replicas().meet(replica(), "update");
  replica_internal::update_on_gpu(mine, replica(), kernel.gpu(), 0);
}

/// Replicas record one after the other, so checks of the ordinary steps before are not repeated.
DISTRIBUTE_INLINE void LocalReducer::update_in_recording(std::span<const VariableUpdate> updates,
                                                         bool reduced, const UpdateKernel& kernel) {
  if (!reduced)
    throw FailedPreconditionError(
        "gradients of several replicas are added by copies in a step that is being recorded");
  context_.check_owner(updates);
  for (const VariableUpdate& update : updates) replica_internal::check_update(update);
  replica_internal::update_on_gpu(updates, replica(), kernel.gpu(), 0);
}

DISTRIBUTE_INLINE void LocalReducer::update_with(std::span<const VariableUpdate> updates,
                                                 std::vector<Tensor> sums,
                                                 const UpdateKernel& kernel) {
  std::vector<VariableUpdate> reduced(updates.begin(), updates.end());
  for (size_t u = 0; u < reduced.size(); ++u) reduced[u].gradient = std::move(sums[u]);
  update(reduced, true, kernel);
}

DISTRIBUTE_INLINE void LocalReducer::missing(const std::string& names) {
  if (names.empty() && !noted_) return;
  noted_ = !names.empty();
  replicas().note(replica(), names.empty() ? ""
                                           : "has no gradient of " + names +
                                                 ": every replica must have gradients of the same "
                                                 "variables, or use ApplyOptions' "
                                                 ".find_unused_parameters = true, which puts zeros "
                                                 "where other replicas have one");
}

DISTRIBUTE_INLINE std::vector<Tensor> gradients_of(std::span<const VariableUpdate> updates) {
  std::vector<Tensor> gradients;
  for (const VariableUpdate& update : updates) gradients.push_back(update.gradient);
  return gradients;
}

DISTRIBUTE_INLINE bool has_sparse(std::span<const VariableUpdate> updates) {
  return std::any_of(updates.begin(), updates.end(), [](const VariableUpdate& update) {
    return is_indexed_slices(update.gradient);
  });
}

}  // namespace distribute::strategy_internal
