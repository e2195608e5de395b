#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/strategy/detail/host_variables.hpp>
#include <distribute/strategy/detail/shared_update.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE bool HostVariables::contains(const Tensor& value) const {
  const auto* at = reinterpret_cast<const std::byte*>(value.array().bytes());
  return at >= memory_.data() && at < memory_.data() + memory_.size();
}

DISTRIBUTE_INLINE bool HostVariables::holds(const Variable& variable,
                                            const LayoutPtr& layout) const {
  const Tensor value = variable.impl().component(0);
  return is_shared(variable) && same_layout(value.layout(), layout) && contains(value);
}

DISTRIBUTE_INLINE void HostVariables::leave(std::span<const VariableUpdate> updates) const {
  for (const VariableUpdate& update : updates) {
    leave(update.variable);
    for (const Variable& slot : update.slots) leave(slot);
  }
}

DISTRIBUTE_INLINE void HostVariables::leave(const Variable& variable) const {
  const Tensor value = variable.impl().component(0);
  if (!contains(value)) return;
  const Tensor copy = Tensor::empty(value.shape(), value.dtype(), value.device(), value.layout());
  std::memcpy(copy.array().bytes(), value.array().bytes(), size_t(block_bytes(value)));
  for (int i = 0; i < variable.impl().num_components(); ++i)
    if (contains(variable.impl().component(i))) variable.impl().set_component(i, copy);
}

DISTRIBUTE_INLINE bool HostVariables::holds(std::span<const VariableUpdate> updates,
                                            const GradientSlots& slots) const {
  for (size_t u = 0; u < updates.size(); ++u) {
    if (!holds(updates[u].variable, slots.layout(u))) return false;
    for (const Variable& slot : updates[u].slots)
      if (!holds(slot, slots.layout(u))) return false;
  }
  return true;
}

/// Calls fn(variable, layout) for every variable and slot.
template <typename Fn>
void for_each_value(std::span<const VariableUpdate> updates, const GradientSlots& slots, Fn&& fn) {
  for (size_t u = 0; u < updates.size(); ++u) {
    fn(updates[u].variable, slots.layout(u));
    for (const Variable& slot : updates[u].slots) fn(slot, slots.layout(u));
  }
}

/// Returns a hash of the bits of all values; 0 when copies within the process differ.
DISTRIBUTE_INLINE uint64_t hash_of(std::span<const VariableUpdate> updates,
                                   const GradientSlots& slots) {
  uint64_t hash = 14695981039346656037u;
  bool shared = true;
  for_each_value(updates, slots, [&](const Variable& variable, const LayoutPtr&) {
    shared &= is_shared(variable);
    for (float value : variable.impl().component(0).data<float>()) {
      uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      hash = (hash ^ bits) * 1099511628211u;
    }
  });
  return shared ? hash | 1 : 0;
}

DISTRIBUTE_INLINE int64_t room_for(const Variable& variable, const LayoutPtr& layout) {
  const int64_t bytes =
      layout ? layout->bytes() : variable.shape().num_elements() * int64_t(sizeof(float));
  return GradientSlots::room(bytes);
}

DISTRIBUTE_INLINE void HostVariables::adopt(std::span<const VariableUpdate> updates,
                                            const GradientSlots& slots,
                                            collective::Communicator& workers) {
  int64_t wanted = 0;
  for_each_value(updates, slots, [&](const Variable& variable, const LayoutPtr& layout) {
    wanted += room_for(variable, layout);
  });
  if (used_ + wanted > int64_t(memory_.size())) return;
  const int64_t mine = int64_t(hash_of(updates, slots));
  std::vector<int64_t> all(static_cast<size_t>(workers.size()));
  const std::vector<int64_t> ones(all.size(), 1);
  workers.all_gather(&mine, all.data(), ones, DType::Int64);
  if (mine == 0 || std::any_of(all.begin(), all.end(), [&](int64_t h) { return h != all[0]; }))
    return;
  // The writer first: the others see its values when they have waited for it.
  if (workers.rank() == 0)
    for_each_value(updates, slots,
                   [&](const Variable& v, const LayoutPtr& l) { move(v, l, true); });
  workers.barrier();
  if (workers.rank() != 0)
    for_each_value(updates, slots,
                   [&](const Variable& v, const LayoutPtr& l) { move(v, l, false); });
}

DISTRIBUTE_INLINE void HostVariables::move(const Variable& variable, const LayoutPtr& layout,
                                           bool write) {
  const Tensor value = in_layout(variable.impl().component(0), layout);
  std::byte* place = memory_.data() + used_;
  const int64_t bytes = block_bytes(value);
  if (write) std::memcpy(place, value.array().bytes(), size_t(bytes));
  used_ += room_for(variable, layout);
  const auto buffer = std::make_shared<Buffer>(place, bytes, value.device(),
                                               [owner = owner_]() mutable { owner.reset(); });
  const Tensor placed(value.shape(), value.dtype(), Array{buffer, 0, layout});
  for (int i = 0; i < variable.impl().num_components(); ++i)
    variable.impl().set_component(i, placed);
}

}  // namespace distribute::strategy_internal
