#pragma once
/// Winograd's convolution for the CPU: 5x5 filters with a sixth of the multiplications, 3x3 with a
/// quarter.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/kernel_shapes.hpp>
#include <distribute/device/detail/layout.hpp>

namespace distribute {

/// True when the functions below can compute this convolution and are likely to be faster than a
/// direct one: float32, 5x5 or 3x3, stride 1, channels in multiples of 16, enough pixels, AVX-512
/// or AVX2, and DeviceState::allow_winograd. Rounding errors are about 2e-6 of the results' size,
/// eight times those of a direct sum.
bool winograd_suits(const Conv2DShape& shape);

/// The number of channels that lie together in the images that it reads and writes fastest: the
/// number of floats in a vector register.
int64_t winograd_block();

/// Does what Backend::conv2d says; y is in `y_layout`, channels in groups of winograd_block()
/// (null: row-major).
Array winograd_conv2d(const Conv2DShape& shape, const Array& x, const Array& w, const Array* bias,
                      Epilogue epilogue, const LayoutPtr& y_layout);

/// Does what Backend::conv2d_backprop_input says; dx is in `x_layout`.
Array winograd_conv2d_backprop_input(const Conv2DShape& shape, const Array& dy, const Array& w,
                                     const LayoutPtr& x_layout);

/// Does what Backend::conv2d_backprop_filter says; the gradient is row-major. Results have the same
/// bits from run to run at a given number of threads.
Array winograd_conv2d_backprop_filter(const Conv2DShape& shape, const Array& x, const Array& dy,
                                      Array* bias_gradient);

}  // namespace distribute
