#pragma once
/// Windows that slide over images: padding and output sizes of convolution and pooling.

#include <distribute/base/config.hpp>

#include <array>
#include <cstdint>

namespace distribute {

/// Source  tf.nn padding strings "VALID", "SAME", and explicit paddings
enum class Padding : uint8_t { Valid, Same, Explicit };

/// One window along one axis.
struct WindowAxis {
  int64_t out = 0, pad_before = 0, pad_after = 0;
};

/// Output size and padding of a window of `kernel` elements `dilation` apart; SAME puts the odd
/// element of padding after. `before` and `after` count for explicit padding only.
/// Throws  InvalidArgumentError when the window does not fit; `op` names the caller.
WindowAxis window_axis(const char* op, int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
                       Padding padding, int64_t before, int64_t after);

}  // namespace distribute
