#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/detail/sharded_slot.hpp>

#include <algorithm>
#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE bool is_slot(const VariableOptions& options) {
  return options.colocate_with && options.initial_number && options.shape &&
         options.dtype == DType::Float32 && options.trainable == false;
}

DISTRIBUTE_INLINE ShardedSlot::ShardedSlot(const VariableOptions& options, const Strategy& owner,
                                           SlotWorkers workers)
    : StrategySlot(options),
      owner_(&owner),
      workers_(std::move(workers)),
      shape_(options.shape.value()) {
  cut(options.initial_number.value());
}

DISTRIBUTE_INLINE int64_t ShardedSlot::block_size() const {
  return layout_ ? layout_->bytes() / int64_t(sizeof(float)) : shape_.num_elements();
}

/// The elements of a worker: the slices of its replicas.
DISTRIBUTE_INLINE Share slice_of_worker(int64_t size, int worker, int workers, int replicas) {
  const int all = workers * replicas;
  return {share_of(size, worker * replicas, all).begin,
          share_of(size, (worker + 1) * replicas - 1, all).end};
}

DISTRIBUTE_INLINE std::vector<int64_t> ShardedSlot::counts() const {
  std::vector<int64_t> counts;
  for (int w = 0; w < workers_.group->size(); ++w) {
    const Share slice =
        slice_of_worker(block_size(), w, workers_.group->size(), workers_.replicas_per_worker);
    counts.push_back(slice.end - slice.begin);
  }
  return counts;
}

DISTRIBUTE_INLINE void ShardedSlot::cut(float first_value) {
  const Share mine = slice_of_worker(block_size(), workers_.group->rank(), workers_.group->size(),
                                     workers_.replicas_per_worker);
  begin_ = mine.begin;
  elements_ = std::vector<float>(size_t(mine.end - mine.begin), first_value);
}

DISTRIBUTE_INLINE void ShardedSlot::arrange(const LayoutPtr& layout) {
  if (same_layout(layout_, layout)) return;
  const Tensor whole = gather();
  layout_ = layout;
  cut(0);
  assign(whole);
}

DISTRIBUTE_INLINE Tensor ShardedSlot::read() const {
  if (access_of(owner_).replica)
    throw FailedPreconditionError(
        str_cat("slot '", options().name, "' of an optimizer is cut into slices, as the strategy ",
                "has shard_optimizer_state: read it outside of run(), on all workers"));
  return gather();
}

DISTRIBUTE_INLINE Tensor ShardedSlot::gather() const {
  const Tensor whole = Tensor::empty(shape_, DType::Float32, Device{}, layout_);
  workers_.group->all_gather(elements_.data(), whole.array().bytes(), counts(), DType::Float32);
  return whole.row_major();
}

/// Calls fn(own element, element of `value`) for this worker's slice.
template <typename Fn>
void ShardedSlot::change(const Tensor& value, Fn&& fn) {
  const Tensor arranged = in_layout(value.to(Device{}), layout_);
  const float* from = reinterpret_cast<const float*>(arranged.array().bytes()) + begin_;
  for (size_t i = 0; i < elements_.size(); ++i) elements_[i] = fn(elements_[i], from[i]);
}

DISTRIBUTE_INLINE void ShardedSlot::assign(const Tensor& value) {
  change(value, [](float, float x) { return x; });
}
DISTRIBUTE_INLINE void ShardedSlot::assign_add(const Tensor& delta) {
  change(delta, [](float own, float x) { return own + x; });
}
DISTRIBUTE_INLINE void ShardedSlot::assign_sub(const Tensor& delta) {
  change(delta, [](float own, float x) { return own - x; });
}

DISTRIBUTE_INLINE std::string ShardedSlot::device() const {
  return device_internal::full_name(Device{});
}

}  // namespace distribute::strategy_internal
