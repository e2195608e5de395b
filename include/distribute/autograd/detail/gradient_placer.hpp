#pragma once
/// Lets a strategy say where in memory the gradients of its variables shall appear.

#include <distribute/base/config.hpp>
#include <distribute/device/buffer.hpp>

#include <optional>

namespace distribute {

class Variable;

/// Tapes ask a placer on the thread that it was installed on. Thread-compatible.
class GradientPlacer {
 public:
  virtual ~GradientPlacer() = default;
  /// Offers memory for the gradient of `variable`; nothing when there is no such memory or it is in
  /// use.
  virtual std::optional<BufferOffer> place(const Variable& variable) = 0;
};

/// The placer of the calling thread; null when gradients may appear anywhere.
GradientPlacer*& gradient_placer();

/// Installs a placer for the life of the scope, on the calling thread.
class [[nodiscard]] GradientPlacerScope {
 public:
  explicit GradientPlacerScope(GradientPlacer* placer) : outer_(gradient_placer()) {
    gradient_placer() = placer;
  }
  ~GradientPlacerScope() { gradient_placer() = outer_; }
  GradientPlacerScope(const GradientPlacerScope&) = delete;
  GradientPlacerScope& operator=(const GradientPlacerScope&) = delete;

 private:
  GradientPlacer* outer_;
};

}  // namespace distribute
