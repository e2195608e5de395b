#pragma once
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/base/status.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/net/message.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/strategy/detail/gradient_buckets.hpp>
#include <distribute/strategy/detail/tensor_collectives.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE bool GradientBuckets::fits(std::span<const VariableUpdate> updates) const {
  if (updates.size() != slot_of_.size()) return false;
  for (size_t u = 0; u < updates.size(); ++u)
    if (variables_[slot_of_[u]] != updates[u].variable.impl().id()) return false;
  return !updates.empty();
}

/// Returns rank 0's order of the updates; this rank's own if rank 0 has others, which is refused
/// later.
DISTRIBUTE_INLINE std::vector<size_t> GradientBuckets::order_of_first(
    const std::vector<size_t>& mine) {
  const GradientOrder order(mine.begin(), mine.end());
  const std::string first = all_gather_texts(*group_, net::encode_message(order))[0];
  const auto theirs = value_or_throw(net::parse_message<GradientOrder>(first, "gradients' order"));
  if (!std::is_permutation(theirs.begin(), theirs.end(), order.begin(), order.end())) return mine;
  return {theirs.begin(), theirs.end()};
}

/// Returns the updates in the order in which rank 0 got their gradients; if unknown, backwards.
DISTRIBUTE_INLINE std::vector<size_t> GradientBuckets::order_of(
    std::span<const VariableUpdate> updates) {
  std::vector<size_t> order;
  const auto add = [&](size_t u) {
    if (std::find(order.begin(), order.end(), u) == order.end()) order.push_back(u);
  };
  for (uint64_t id : observed_)
    for (size_t u = 0; u < updates.size(); ++u)
      if (updates[u].variable.impl().id() == id) add(u);
  for (size_t u = updates.size(); u-- > 0;) add(u);
  return order_of_first(order);
}

DISTRIBUTE_INLINE GradientBuckets::~GradientBuckets() { settle(); }

DISTRIBUTE_INLINE void GradientBuckets::settle() {
  while (launched_ > 0) {
    try {
      buckets_[--launched_].work.wait();
    } catch (const Error&) {  // thrown already where the sums were needed
    }
  }
}

DISTRIBUTE_INLINE void GradientBuckets::drop() {
  for (size_t i = 0; i < launched_; ++i) buckets_[i].work.wait();
  begin_step();
}

DISTRIBUTE_INLINE void GradientBuckets::plan(std::span<const VariableUpdate> updates) {
  drop();  // gradients of other variables
  const std::vector<size_t> order = order_of(updates);
  std::vector<VariableUpdate> ordered;
  int64_t bytes = 0;
  slot_of_.assign(updates.size(), 0);
  variables_.clear();
  for (size_t u : order) {
    slot_of_[u] = ordered.size();
    ordered.push_back(updates[u]);
    variables_.push_back(updates[u].variable.impl().id());
    bytes += GradientSlots::room(block_bytes(updates[u].gradient));
  }
  allocate(bytes);
  slots_->plan(ordered, *group_);
  cut(ordered.size());
  begin_step();
}

/// Allocates zeros, as the gaps between the slots are summed with the rest.
DISTRIBUTE_INLINE void GradientBuckets::allocate(int64_t bytes) {
  const int64_t wire = options_.bfloat16_gradients ? bytes / 2 : 0;
  memory_ = std::make_shared<Buffer>(2 * bytes + wire, current_device());
  if (memory_->device().type == DeviceType::Gpu)
    fill_elements(memory_->data(), memory_->device(), 4, 0, memory_->bytes() / 4);
  else
    std::memset(memory_->data(), 0, size_t(memory_->bytes()));
  bytes_ = bytes;
  slots_ = std::make_unique<GradientSlots>(
      std::span(static_cast<std::byte*>(memory_->data()), size_t(bytes)), memory_);
}

DISTRIBUTE_INLINE void GradientBuckets::cut(size_t slots) {
  const int64_t given = options_.bytes_per_pack;
  int64_t limit = given ? given : int64_t{1} << 20;
  int64_t begin = 0;
  buckets_.clear();
  for (size_t first = 0, u = 0; u < slots; ++u) {
    if (slots_->end(u) - begin <= limit && u + 1 < slots) continue;
    buckets_.push_back({first, u + 1, begin, slots_->end(u), 0, {}});
    first = u + 1;
    begin = slots_->end(u);
    limit = given ? given : int64_t{25} << 20;
  }
}

DISTRIBUTE_INLINE void GradientBuckets::begin_step() {
  taken_.assign(variables_.size(), false);
  launched_ = 0;
  for (Bucket& bucket : buckets_) bucket.missing = bucket.last - bucket.first;
}

/// Begins the step anew if it belongs to another recording than the state, which a recording that
/// was given up may have left.
DISTRIBUTE_INLINE void GradientBuckets::follow_recording() {
  const RecordedStep* const now = RecordedStep::current();
  if (std::exchange(recording_, now) != now) begin_step();
}

DISTRIBUTE_INLINE void GradientBuckets::ready(const Variable& variable, const Tensor& gradient) {
  const uint64_t id = variable.impl().id();
  if (!slots_) return observed_.push_back(id);
  follow_recording();
  const auto slot = std::find(variables_.begin(), variables_.end(), id);
  if (slot != variables_.end() && gradient && !is_indexed_slices(gradient))
    take(size_t(slot - variables_.begin()), gradient);
}

DISTRIBUTE_INLINE void GradientBuckets::take(size_t slot, const Tensor& gradient) {
  if (taken_[slot]) return;
  store(slot, gradient);
  taken_[slot] = true;
  for (Bucket& bucket : buckets_)
    if (slot >= bucket.first && slot < bucket.last) --bucket.missing;
  while (launched_ < buckets_.size() && buckets_[launched_].missing == 0)
    launch(buckets_[launched_++]);
}

DISTRIBUTE_INLINE Tensor GradientBuckets::part(int64_t at, int64_t count, DType dtype) const {
  return Tensor(Shape{count}, dtype, Array{memory_, at, nullptr});
}

/// The elements of one tensor in the dtype and place of another.
template <typename From, typename To>
void convert_into(const Tensor& to, const Tensor& from) {
  char* const target = to.array().bytes();
  if (ops_internal::on_gpu(to)) {
    const Tensor converted = ops_internal::gpu_convert(from, to.dtype());
    return copy_bytes(target, to.device(), converted.array().bytes(), to.device(),
                      int64_t(sizeof(To)) * to.num_elements());
  }
  const auto* values = reinterpret_cast<const From*>(from.array().bytes());
  std::copy(values, values + from.num_elements(), reinterpret_cast<To*>(target));
}

DISTRIBUTE_INLINE void GradientBuckets::sum(Bucket& bucket, const void* from, void* to,
                                            int64_t count, DType dtype) {
  if (RecordedStep* step = RecordedStep::current()) {
    step->keep(memory_);
    sums_->record_all_reduce(from, to, count, dtype, collective::ReductionOp::Sum,
                             step->graph_life());
  } else {
    bucket.work = sums_->all_reduce_async(from, to, count, dtype);
  }
}

DISTRIBUTE_INLINE void GradientBuckets::launch(Bucket& bucket) {
  const int64_t count = (bucket.end - bucket.begin) / int64_t(sizeof(float));
  if (!options_.bfloat16_gradients) {
    char* const from = static_cast<char*>(memory_->data()) + bucket.begin;
    return sum(bucket, from, from + bytes_, count, DType::Float32);
  }
  char* const wire = narrowed(bucket);
  sum(bucket, wire, wire, count, DType::BFloat16);
}

DISTRIBUTE_INLINE char* GradientBuckets::narrowed(const Bucket& bucket) {
  const int64_t count = (bucket.end - bucket.begin) / int64_t(sizeof(float));
  const Tensor wire = part(2 * bytes_ + bucket.begin / 2, count, DType::BFloat16);
  convert_into<float, bfloat16>(wire, part(bucket.begin, count, DType::Float32));
  return wire.array().bytes();
}

DISTRIBUTE_INLINE void GradientBuckets::widen(int64_t to, int64_t from, int64_t count) {
  convert_into<bfloat16, float>(part(to, count, DType::Float32),
                                part(from, count, DType::BFloat16));
}

DISTRIBUTE_INLINE void GradientBuckets::finish(Bucket& bucket) {
  if (RecordedStep::current())
    sums_->join_recorded();
  else
    bucket.work.wait();
  if (!options_.bfloat16_gradients) return;
  const int64_t count = (bucket.end - bucket.begin) / int64_t(sizeof(float));
  widen(bytes_ + bucket.begin, 2 * bytes_ + bucket.begin / 2, count);
}

DISTRIBUTE_INLINE void GradientBuckets::take_all(std::span<const VariableUpdate> updates) {
  follow_recording();
  std::vector<size_t> update_of(updates.size());
  for (size_t u = 0; u < updates.size(); ++u) update_of[slot_of_[u]] = u;
  for (size_t slot = 0; slot < update_of.size(); ++slot)
    take(slot, updates[update_of[slot]].gradient);
}

DISTRIBUTE_INLINE std::vector<Tensor> GradientBuckets::reduce(
    std::span<const VariableUpdate> updates) {
  take_all(updates);
  for (Bucket& bucket : buckets_) finish(bucket);
  begin_step();
  auto* sums = static_cast<std::byte*>(memory_->data()) + bytes_;
  const std::vector<Tensor> by_slot = slots_->gradients({sums, size_t(bytes_)});
  std::vector<Tensor> result;
  for (size_t u = 0; u < updates.size(); ++u) result.push_back(by_slot[slot_of_[u]]);
  return result;
}

}  // namespace distribute::strategy_internal
