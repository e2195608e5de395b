#pragma once
/// Places in shared memory where the gradients of a replica appear.

#include <distribute/autograd/detail/gradient_placer.hpp>
#include <distribute/base/config.hpp>
#include <distribute/replica/replica_context.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace distribute::collective {
class Communicator;
}

namespace distribute::strategy_internal {

/// One slot for the gradient of each variable. Every replica plans the same slots at the same
/// offsets, so that each finds the others' gradients. Thread-compatible: one replica's.
class GradientSlots final : public GradientPlacer {
 public:
  /// `memory`: where the slots go, kept alive by `owner`; empty: there are none.
  GradientSlots(std::span<std::byte> memory, std::shared_ptr<void> owner)
      : memory_(memory), owner_(std::move(owner)) {}

  DISTRIBUTE_INLINE std::optional<BufferOffer> place(const Variable& variable) override;

  /// Slots for gradients like these, if there is room, alike on all ranks of `group`: in row-major
  /// order where gradients lie differently, as they may when parts of a batch differ in size.
  /// Throws  FailedPreconditionError when they differ in shape.
  void plan(std::span<const VariableUpdate> updates, collective::Communicator& group);
  /// True when the slots were planned for these variables.
  bool fits(std::span<const VariableUpdate> updates) const;
  /// Copies the gradients that are elsewhere into their slots.
  /// Returns false when a slot is in use by another tensor.
  bool bring_home(std::span<const VariableUpdate> updates) const;
  bool bring_home(size_t u, const Tensor& gradient) const;
  /// The gradients in another replica's slots; `memory` is that replica's.
  std::vector<Tensor> gradients(std::span<std::byte> memory) const;
  const LayoutPtr& layout(size_t u) const { return slots_[u].layout; }
  /// Slot u ends there, and the next one begins.
  int64_t end(size_t u) const { return slots_[u].offset + room(slots_[u].bytes); }
  /// Bytes from one slot to the next: slots of different variables share no page.
  static int64_t room(int64_t bytes) { return (bytes + 4095) & ~int64_t{4095}; }
  /// One line for each slot.
  std::string description() const;

 private:
  struct Slot {
    uint64_t variable = 0;
    std::string name;
    Shape shape;
    int64_t offset = 0, bytes = 0;
    LayoutPtr layout;
    std::shared_ptr<std::atomic<bool>> taken;  // by a live buffer
  };
  void plan_alone(std::span<const VariableUpdate> updates, bool row_major);
  std::byte* address(const Slot& slot) const { return memory_.data() + slot.offset; }

  std::span<std::byte> memory_;
  std::shared_ptr<void> owner_;
  std::vector<Slot> slots_;  // in the order of the updates
  std::unordered_map<uint64_t, size_t> by_variable_;
};

/// Bytes of the block that holds a tensor's elements.
int64_t block_bytes(const Tensor& tensor);

}  // namespace distribute::strategy_internal
