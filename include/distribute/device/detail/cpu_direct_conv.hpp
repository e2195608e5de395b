#pragma once
/// Convolutions as matrix products that read images where they are, for CPUs with AVX2. Only the
/// filters are copied.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/kernel_shapes.hpp>
#include <distribute/device/detail/layout.hpp>

namespace distribute {

/// True when direct_conv2d_backprop_filter can compute this convolution and is likely to be faster
/// than oneDNN: float32, one group, channels in multiples of 8, AVX2 without AVX-512, and
/// DeviceState::allow_winograd.
bool direct_gradient_suits(const Conv2DShape& shape);

/// Says the same of the other two passes, which also need filters larger than 1x1 and 64 channels.
bool direct_conv_suits(const Conv2DShape& shape);

/// Does what Backend::conv2d says; y is in `y_layout`, channels in groups of 8 (null: row-major).
Array direct_conv2d(const Conv2DShape& shape, const Array& x, const Array& w, const Array* bias,
                    Epilogue epilogue, const LayoutPtr& y_layout);

/// Does what Backend::conv2d_backprop_input says; dx is in `x_layout`.
Array direct_conv2d_backprop_input(const Conv2DShape& shape, const Array& dy, const Array& w,
                                   const LayoutPtr& x_layout);

/// Does what Backend::conv2d_backprop_filter says. The gradient is row-major or, for 1x1 filters,
/// in `dw_layout` [out / 8][in][8]. Results have the same bits at any number of threads.
Array direct_conv2d_backprop_filter(const Conv2DShape& shape, const Array& x, const Array& dy,
                                    Array* bias_gradient, const LayoutPtr& dw_layout);

}  // namespace distribute
