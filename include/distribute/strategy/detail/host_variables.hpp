#pragma once
/// Variables of which all workers of a host share one copy.

#include <distribute/base/config.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/detail/gradient_slots.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace distribute::strategy_internal {

/// Moves the values of variables and their slots into memory that all workers of the job share, so
/// that an optimizer step writes each element once instead of once per worker. A process has one;
/// thread-compatible.
class HostVariables {
 public:
  /// `memory` belongs to worker 0 and is shared with all; `owner` keeps it alive.
  HostVariables(std::span<std::byte> memory, std::shared_ptr<void> owner)
      : memory_(memory), owner_(std::move(owner)) {}

  std::span<const std::byte> memory() const { return memory_; }
  /// Whether all values lie in the memory, in the layouts of the gradients' slots.
  bool holds(std::span<const VariableUpdate> updates, const GradientSlots& slots) const;

  /// Moves the values there if all workers hold the same ones and there is room. Every worker calls
  /// it.
  void adopt(std::span<const VariableUpdate> updates, const GradientSlots& slots,
             collective::Communicator& workers);

  /// Gives each variable that lies there its own copy, which this worker alone may overwrite.
  void leave(std::span<const VariableUpdate> updates) const;

 private:
  bool contains(const Tensor& value) const;
  void leave(const Variable& variable) const;
  bool holds(const Variable& variable, const LayoutPtr& layout) const;
  void move(const Variable& variable, const LayoutPtr& layout, bool write);

  std::span<std::byte> memory_;
  std::shared_ptr<void> owner_;
  int64_t used_ = 0;  // bytes; the same on every worker
};

}  // namespace distribute::strategy_internal
