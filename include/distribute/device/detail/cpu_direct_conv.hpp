#pragma once
/// Convolutions as matrix products over images as they lie, for CPUs with AVX2: nothing is copied
/// but the filters.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/kernel_shapes.hpp>
#include <distribute/device/detail/layout.hpp>

namespace distribute {

/// True when direct_conv2d_backprop_filter can compute this convolution and is likely to be faster
/// than oneDNN: float32, one group, channels in multiples of 8, AVX2 without AVX-512, and
/// DeviceState::allow_winograd.
bool direct_gradient_suits(const Conv2DShape& shape);

/// The same for the two other passes, which want more: filters larger than 1x1 and 64 channels.
bool direct_conv_suits(const Conv2DShape& shape);

/// As Backend::conv2d; y in `y_layout`, channels in groups of 8 (null: row-major).
Array direct_conv2d(const Conv2DShape& shape, const Array& x, const Array& w, const Array* bias,
                    Epilogue epilogue, const LayoutPtr& y_layout);

/// As Backend::conv2d_backprop_input; dx in `x_layout`.
Array direct_conv2d_backprop_input(const Conv2DShape& shape, const Array& dy, const Array& w,
                                   const LayoutPtr& x_layout);

/// As Backend::conv2d_backprop_filter; the gradient is row-major or, of 1x1 filters, in `dw_layout`
/// [out / 8][in][8]. The same bits at any number of threads.
Array direct_conv2d_backprop_filter(const Conv2DShape& shape, const Array& x, const Array& dy,
                                    Array* bias_gradient, const LayoutPtr& dw_layout);

}  // namespace distribute
