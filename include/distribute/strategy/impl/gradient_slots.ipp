#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/autograd/variable.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/strategy/detail/gradient_slots.hpp>
#include <distribute/strategy/detail/tensor_collectives.hpp>

#include <algorithm>
#include <cstring>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE int64_t block_bytes(const Tensor& tensor) {
  return tensor.layout() ? tensor.layout()->bytes()
                         : tensor.num_elements() * size_of(tensor.dtype());
}

DISTRIBUTE_INLINE std::optional<BufferOffer> GradientSlots::place(const Variable& variable) {
  const auto found = by_variable_.find(variable.impl().id());
  if (found == by_variable_.end()) return std::nullopt;
  const Slot& slot = slots_[found->second];
  if (slot.taken->load(std::memory_order_acquire)) return std::nullopt;
  // The offer counts as taken until it is returned unused.
  struct Guard {
    std::shared_ptr<std::atomic<bool>> taken;
    std::shared_ptr<void> owner;
    ~Guard() { taken->store(false, std::memory_order_release); }
  };
  slot.taken->store(true, std::memory_order_release);
  auto guard = std::make_shared<Guard>(Guard{slot.taken, owner_});
  return BufferOffer{slot.bytes, address(slot),
                     [guard = std::move(guard)]() mutable { guard.reset(); }};
}

DISTRIBUTE_INLINE void GradientSlots::plan(std::span<const VariableUpdate> updates,
                                           collective::Communicator& group) {
  plan_alone(updates, false);
  const std::vector<std::string> all = all_gather_texts(group, description());
  if (std::all_of(all.begin(), all.end(), [&](const auto& text) { return text == all[0]; })) return;
  plan_alone(updates, true);
  check_agreement(group, "the gradients", description());
}

DISTRIBUTE_INLINE void GradientSlots::plan_alone(std::span<const VariableUpdate> updates,
                                                 bool row_major) {
  slots_.clear();
  by_variable_.clear();
  int64_t at = 0;
  for (const VariableUpdate& update : updates) {
    const LayoutPtr layout = row_major ? nullptr : update.gradient.layout();
    const int64_t bytes =
        layout ? layout->bytes() : update.gradient.num_elements() * int64_t(sizeof(float));
    by_variable_[update.variable.impl().id()] = slots_.size();
    slots_.push_back({update.variable.impl().id(), update.variable.name(), update.gradient.shape(),
                      at, bytes, layout, std::make_shared<std::atomic<bool>>(false)});
    at += room(bytes);
  }
  if (at <= int64_t(memory_.size())) return;
  slots_.clear();
  by_variable_.clear();
}

DISTRIBUTE_INLINE bool GradientSlots::fits(std::span<const VariableUpdate> updates) const {
  if (updates.size() != slots_.size()) return false;
  for (size_t u = 0; u < updates.size(); ++u)
    if (slots_[u].variable != updates[u].variable.impl().id()) return false;
  return !slots_.empty();
}

DISTRIBUTE_INLINE bool GradientSlots::bring_home(std::span<const VariableUpdate> updates) const {
  for (size_t u = 0; u < updates.size(); ++u)
    if (!bring_home(u, updates[u].gradient)) return false;
  return true;
}

DISTRIBUTE_INLINE bool GradientSlots::bring_home(size_t u, const Tensor& gradient) const {
  const Slot& slot = slots_[u];
  const Tensor arranged = in_layout(gradient, slot.layout);
  const char* from = arranged.array().bytes();
  if (reinterpret_cast<const std::byte*>(from) == address(slot)) return true;
  if (slot.taken->load(std::memory_order_acquire)) return false;
  copy_bytes(address(slot), gradient.device(), from, gradient.device(), slot.bytes);
  return true;
}

DISTRIBUTE_INLINE std::vector<Tensor> GradientSlots::gradients(std::span<std::byte> memory) const {
  std::vector<Tensor> result;
  for (const Slot& slot : slots_) {
    const auto buffer =
        std::make_shared<Buffer>(memory.data() + slot.offset, slot.bytes, current_device(), [] {});
    result.emplace_back(slot.shape, DType::Float32, Array{buffer, 0, slot.layout});
  }
  return result;
}

DISTRIBUTE_INLINE std::string GradientSlots::description() const {
  std::string text;
  for (const Slot& slot : slots_)
    text += str_cat("variable '", slot.name, "' float32 ", to_string(slot.shape), " in ",
                    slot.layout ? slot.layout->name() : "row-major order", ", ", slot.bytes,
                    " bytes\n");
  return text;
}

}  // namespace distribute::strategy_internal
