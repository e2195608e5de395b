#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/autograd/detail/lazy_product.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/detail/shared_update.hpp>

#include <algorithm>
#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE bool is_shared(const Variable& variable) {
  const VariableImpl& impl = variable.impl();
  const uint64_t id = impl.component(0).id();
  for (int i = 1; i < impl.num_components(); ++i)
    if (impl.component(i).id() != id) return false;
  return true;
}

/// Calls fn(number) with numbers that identify these updates.
template <typename Fn>
void for_each_id(std::span<const VariableUpdate> updates, Fn&& fn) {
  for (const VariableUpdate& update : updates) {
    fn(update.variable.impl().id());
    fn(uint64_t(update.slots.size()));
    for (const Variable& slot : update.slots) fn(slot.impl().id());
  }
}

DISTRIBUTE_INLINE SharedUpdate::SharedUpdate(std::span<const VariableUpdate> updates,
                                             std::vector<std::vector<Tensor>> gradients,
                                             const UpdateKernel& kernel)
    : updates_(updates.begin(), updates.end()), gradients_(std::move(gradients)) {
  for (size_t u = 0; u < updates_.size(); ++u)
    for (const Tensor& gradient : gradients_[u]) {
      updates_[u].gradient = gradient;
      replica_internal::check_update(updates_[u]);
    }
  for_each_id(updates, [&](uint64_t id) { ids_.push_back(id); });
  targets_.reserve(updates_.size());
  for (size_t u = 0; u < updates_.size(); ++u) add(u, kernel);
  slices_ = replica_internal::slice_updates(targets_);
  for (const auto& slice : slices_)
    ends_.push_back(slice.count + (ends_.empty() ? 0 : ends_.back()));
}

DISTRIBUTE_INLINE bool SharedUpdate::is_for(std::span<const VariableUpdate> updates) const {
  size_t at = 0;
  bool same = updates.size() == updates_.size();
  for_each_id(updates, [&](uint64_t id) { same = same && at < ids_.size() && ids_[at++] == id; });
  return same && at == ids_.size();
}

DISTRIBUTE_INLINE bool SharedUpdate::begin_again(std::span<const VariableUpdate> updates) {
  if (!repeats_ || !is_for(updates)) return false;
  for (size_t u = 0; u < updates.size(); ++u) {
    updates_[u].variable = updates[u].variable;
    updates_[u].slots = updates[u].slots;
  }
  for (replica_internal::UpdateTarget& target : targets_) target.take_again();
  return true;
}

DISTRIBUTE_INLINE Share SharedUpdate::slices_of(int replica, int replicas) const {
  const auto first_after = [&](int64_t element) {
    return std::upper_bound(ends_.begin(), ends_.end(), element) - ends_.begin();
  };
  const Share elements = share_of(ends_.empty() ? 0 : ends_.back(), replica, replicas);
  return {first_after(elements.begin), first_after(elements.end)};
}

/// Whether all replicas have one copy in host memory of the variable and of each of its slots.
DISTRIBUTE_INLINE bool shares_values(const VariableUpdate& update) {
  return is_shared(update.variable) &&
         std::all_of(update.slots.begin(), update.slots.end(), is_shared) &&
         !is_gpu(replica_internal::update_device(update, 0));
}

DISTRIBUTE_INLINE void SharedUpdate::add(size_t update, const UpdateKernel& kernel) {
  std::vector<Tensor>& gradients = gradients_[update];
  const auto sparse = std::count_if(gradients.begin(), gradients.end(), is_indexed_slices);
  if (sparse || !shares_values(updates_[update])) {
    repeats_ = false;
    Tensor sum = reduce_tensors("update", ReduceOp::Sum, std::move(gradients));
    return update_apart(update, std::move(sum), kernel);
  }
  updates_[update].gradient = gradients[0];
  targets_.emplace_back(updates_[update], 0, updates_[update].variable.impl().num_components());
  update_of_.push_back(update);
  const LayoutPtr& layout = targets_.back().layout();
  using autograd_internal::is_lazy_product, autograd_internal::for_update;
  const bool lazy = std::all_of(gradients.begin(), gradients.end(), is_lazy_product);
  for (Tensor& gradient : gradients) {
    const Tensor arranged = lazy ? for_update(gradient, layout) : in_layout(gradient, layout);
    repeats_ &= arranged.id() == gradient.id();
    gradient = arranged;
  }
}

/// Updates each component separately, or all of them at once where they share one value and the
/// gradient is sparse.
DISTRIBUTE_INLINE void SharedUpdate::update_apart(size_t update, Tensor gradient,
                                                  const UpdateKernel& kernel) const {
  VariableUpdate one = updates_[update];
  one.gradient = std::move(gradient);
  if (shares_values(one) && is_indexed_slices(one.gradient)) {
    const replica_internal::UpdateTarget all(one, 0, one.variable.impl().num_components());
    return replica_internal::update_rows(one, update, all, kernel);
  }
  for (int i = 0; i < one.variable.impl().num_components(); ++i)
    replica_internal::update_component(std::span(&one, 1), i, kernel, update);
}

DISTRIBUTE_INLINE void SharedUpdate::compute(int replica, int replicas,
                                             const UpdateKernel& kernel) const {
  const Share share = slices_of(replica, replicas);
  parallel_for(share.end - share.begin, 1, [&](int64_t begin, int64_t end) {
    Scratch scratch;
    for (int64_t i = begin; i < end; ++i)
      compute_slice(slices_[size_t(share.begin + i)], scratch, kernel);
  });
}

/// Brings floats nearer that another core may have written, while this one does something else.
DISTRIBUTE_INLINE void prefetch_floats(const float* values, int64_t count) {
  constexpr int64_t kLine = 16;
  for (int64_t i = 0; i < count; i += kLine) __builtin_prefetch(values + i, 0, 2);
}

/// Finds the slice in each replica's gradient.
DISTRIBUTE_INLINE void SharedUpdate::find_gradients(const replica_internal::UpdateSlice& slice,
                                                    Scratch& scratch) const {
  const std::vector<Tensor>& all = gradients_[update_of_[slice.target]];
  scratch.products.resize(all.size());
  scratch.gradients.clear();
  for (size_t r = 0; r < all.size(); ++r)
    scratch.gradients.push_back(
        autograd_internal::update_elements(all[r], slice.begin, slice.count, scratch.products[r]));
}

// Chunks of 8 KiB: the sum is still in the first-level cache when the kernel reads it, and the next
// chunk comes nearer meanwhile.
DISTRIBUTE_INLINE void SharedUpdate::compute_slice(const replica_internal::UpdateSlice& slice,
                                                   Scratch& scratch,
                                                   const UpdateKernel& kernel) const {
  const replica_internal::UpdateTarget& target = targets_[slice.target];
  const size_t update = update_of_[slice.target];
  find_gradients(slice, scratch);
  std::vector<const float*>& gradients = scratch.gradients;
  scratch.slots.assign(target.slots(), target.slots() + updates_[update].slots.size());
  for (float*& slot : scratch.slots) slot += slice.begin;
  float* weights = target.weights() + slice.begin;
  const int64_t chunk = gradients.size() == 1 ? slice.count : kChunk;
  for (int64_t left = slice.count, count = 0; left > 0; left -= count) {
    count = std::min(chunk, left);
    if (gradients.size() > 1) sum_floats(gradients, scratch.sum.data(), count);
    for (const float*& gradient : gradients)
      prefetch_floats(gradient + count, std::min(chunk, left - count));
    kernel(update, weights, scratch.slots.data(),
           gradients.size() > 1 ? scratch.sum.data() : gradients[0], count);
    weights += count;
    for (const float*& gradient : gradients) gradient += count;
    for (float*& slot : scratch.slots) slot += count;
  }
}

DISTRIBUTE_INLINE bool SharedUpdate::writes_only(std::span<const std::byte> memory) const {
  const auto inside = [&](const float* at) {
    const auto* address = reinterpret_cast<const std::byte*>(at);
    return address >= memory.data() && address < memory.data() + memory.size();
  };
  for (size_t t = 0; t < targets_.size(); ++t) {
    const size_t slots = updates_[update_of_[t]].slots.size();
    if (!inside(targets_[t].weights())) return false;
    for (size_t s = 0; s < slots; ++s)
      if (!inside(targets_[t].slots()[s])) return false;
  }
  return true;
}

DISTRIBUTE_INLINE void SharedUpdate::finish() {
  for (replica_internal::UpdateTarget& target : targets_) target.store();
  for (VariableUpdate& update : updates_) {
    update.variable = Variable();
    update.slots.clear();
  }
}

}  // namespace distribute::strategy_internal
