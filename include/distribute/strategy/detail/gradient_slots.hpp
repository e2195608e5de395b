#pragma once
/// Slots in shared memory for the gradients of a replica.

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

/// One slot for the gradient of each variable. Thread-compatible; it belongs to one replica.
/// 1. Every replica plans the same slots at the same offsets, so that each finds the others'
///    gradients.
/// 2. Slots of different variables share no page.
/// 3. A slot is used by at most one live buffer.
class GradientSlots final : public GradientPlacer {
 public:
  /// `memory` holds the slots and is kept alive by `owner`; if it is empty there are no slots.
  GradientSlots(std::span<std::byte> memory, std::shared_ptr<void> owner)
      : memory_(memory), owner_(std::move(owner)) {}

  DISTRIBUTE_INLINE std::optional<BufferOffer> place(const Variable& variable) override;

  /// Plans slots for gradients like these if there is room, with the same layout on all ranks of
  /// `group`: row-major where the ranks' layouts differ, as they may when parts of a batch differ
  /// in size.
  /// Throws  FailedPreconditionError when the gradients differ in shape.
  void plan(std::span<const VariableUpdate> updates, collective::Communicator& group);
  /// Whether the slots were planned for these variables.
  bool fits(std::span<const VariableUpdate> updates) const;
  /// Copies gradients that are not in their slots there. Returns false when a slot is in use by
  /// another tensor.
  bool bring_home(std::span<const VariableUpdate> updates) const;
  bool bring_home(size_t u, const Tensor& gradient) const;
  /// Returns the gradients in another replica's slots; `memory` is that replica's.
  std::vector<Tensor> gradients(std::span<std::byte> memory) const;
  const LayoutPtr& layout(size_t u) const { return slots_[u].layout; }
  int64_t bytes(size_t u) const { return slots_[u].bytes; }
  /// Returns the offset at which slot u ends and the next one begins.
  int64_t end(size_t u) const { return slots_[u].offset + room(slots_[u].bytes); }
  /// Returns the bytes from one slot to the next: slots of different variables share no page.
  static int64_t room(int64_t bytes) { return (bytes + 4095) & ~int64_t{4095}; }
  /// Returns one line for each slot.
  std::string description() const;

 private:
  struct Slot {
    uint64_t variable = 0;
    std::string name;
    Shape shape;
    int64_t offset = 0, bytes = 0;
    LayoutPtr layout;
    std::shared_ptr<std::atomic<bool>> taken;  // set while a live buffer uses the slot
  };
  void plan_alone(std::span<const VariableUpdate> updates, bool row_major);
  std::byte* address(const Slot& slot) const { return memory_.data() + slot.offset; }

  std::span<std::byte> memory_;
  std::shared_ptr<void> owner_;
  std::vector<Slot> slots_;  // in the order of the updates
  std::unordered_map<uint64_t, size_t> by_variable_;
};

/// Returns the size in bytes of the block that holds a tensor's elements.
int64_t block_bytes(const Tensor& tensor);

}  // namespace distribute::strategy_internal
