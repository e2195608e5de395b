#pragma once
/// Elements added at the ends of axes.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace distribute {

/// Source  tf.pad
enum class PadMode : uint8_t { Constant, Reflect, Symmetric };

/// Elements added before and after an axis.
using AxisPadding = std::array<int64_t, 2>;

/// pad(x, {{1, 1}, {0, 2}}): Constant adds `value`; Reflect mirrors without the edge, Symmetric
/// with it.
/// Throws  InvalidArgumentError when there is not one pair for every axis, for negative amounts, or
///         for a mirror that needs more elements than the axis has.
/// Source  tf.pad
Tensor pad(const Tensor& x, std::span<const AxisPadding> paddings, PadMode mode = PadMode::Constant,
           float value = 0);
inline Tensor pad(const Tensor& x, std::initializer_list<AxisPadding> paddings,
                  PadMode mode = PadMode::Constant, float value = 0) {
  return pad(x, std::span(paddings.begin(), paddings.size()), mode, value);
}

}  // namespace distribute
