#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/avx2_products.hpp>
#include <distribute/device/detail/cpu_direct_conv.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/detail/grouped_image.hpp>
#include <distribute/device/detail/prepared_values.hpp>

#include <algorithm>
#include <span>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace distribute::direct_conv_internal {

using device_internal::GroupedImage;
using device_internal::HeldImage;
using device_internal::plain_array;
using device_internal::prepared;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define DISTRIBUTE_HAS_DIRECT_CONV 1
#pragma GCC push_options
#pragma GCC target("avx2,fma")
using Avx2 = device_internal::Avx2Products;

#include <distribute/device/impl/direct_conv.inc>
#pragma GCC pop_options
#endif

}  // namespace distribute::direct_conv_internal

namespace distribute {

DISTRIBUTE_INLINE bool direct_gradient_suits(const Conv2DShape& s) {
#ifdef DISTRIBUTE_HAS_DIRECT_CONV
  return simd_level() == 1 && device_state().allow_winograd && s.dtype == DType::Float32 &&
         s.groups == 1 && s.in_channels % 8 == 0 && s.out_channels % 8 == 0 &&
         s.in[0] * s.in[1] * s.out[0] * s.out[1] > 0;
#else
  (void)s;
  return false;
#endif
}

DISTRIBUTE_INLINE bool direct_conv_suits(const Conv2DShape& s) {
  // Measurements show that with fewer channels a product spends too much time on reading and
  // writing its sums.
  return direct_gradient_suits(s) && s.kernel != Conv2DShape::Pair{1, 1} &&
         std::min(s.in_channels, s.out_channels) >= 64;
}

#ifdef DISTRIBUTE_HAS_DIRECT_CONV
DISTRIBUTE_INLINE Array direct_conv2d(const Conv2DShape& s, const Array& x, const Array& w,
                                      const Array* bias, Epilogue epilogue,
                                      const LayoutPtr& y_layout) {
  using namespace direct_conv_internal;
  Array y =
      make_array(s.batch * s.out[0] * s.out[1] * s.out_channels * 4, x.buffer->device(), y_layout);
  const HeldImage source(x, s.in, s.in_channels, Avx2::kLanes),
      target(y, s.out, s.out_channels, Avx2::kLanes);
  DirectConv<Avx2>(s).forward(source.image, plain_array(w), bias ? bias->data<float>() : nullptr,
                              epilogue == Epilogue::Relu, target.image);
  return y;
}

DISTRIBUTE_INLINE Array direct_conv2d_backprop_input(const Conv2DShape& s, const Array& dy,
                                                     const Array& w, const LayoutPtr& x_layout) {
  using namespace direct_conv_internal;
  Array dx =
      make_array(s.batch * s.in[0] * s.in[1] * s.in_channels * 4, dy.buffer->device(), x_layout);
  const HeldImage source(dy, s.out, s.out_channels, Avx2::kLanes),
      target(dx, s.in, s.in_channels, Avx2::kLanes);
  DirectConv<Avx2>(s).backprop_input(source.image, plain_array(w), target.image);
  return dx;
}

DISTRIBUTE_INLINE Array direct_conv2d_backprop_filter(const Conv2DShape& s, const Array& x,
                                                      const Array& dy, Array* bias_gradient,
                                                      const LayoutPtr& dw_layout) {
  using namespace direct_conv_internal;
  Array dw = make_array(s.kernel[0] * s.kernel[1] * s.in_channels * s.out_channels * 4,
                        x.buffer->device(), dw_layout);
  const HeldImage inputs(x, s.in, s.in_channels, Avx2::kLanes),
      gradients(dy, s.out, s.out_channels, Avx2::kLanes);
  const DirectConv<Avx2> conv(s);
  if (dw_layout)
    conv.filter_gradient(inputs.image, gradients.image, dw.data<float>(), Avx2::kLanes,
                         s.in_channels * Avx2::kLanes);
  else
    conv.filter_gradient(inputs.image, gradients.image, dw.data<float>(), s.out_channels,
                         Avx2::kLanes);
  if (!bias_gradient) return dw;
  *bias_gradient = make_array(s.out_channels * 4, x.buffer->device());
  conv.bias_gradient(gradients.image, bias_gradient->data<float>());
  return dw;
}
#else
DISTRIBUTE_INLINE Array direct_conv2d(const Conv2DShape&, const Array&, const Array&, const Array*,
                                      Epilogue, const LayoutPtr&) {
  throw UnimplementedError("direct_conv2d: not in this build; see direct_conv_suits");
}
DISTRIBUTE_INLINE Array direct_conv2d_backprop_input(const Conv2DShape&, const Array&, const Array&,
                                                     const LayoutPtr&) {
  throw UnimplementedError("direct_conv2d_backprop_input: not in this build");
}
DISTRIBUTE_INLINE Array direct_conv2d_backprop_filter(const Conv2DShape&, const Array&,
                                                      const Array&, Array*, const LayoutPtr&) {
  throw UnimplementedError("direct_conv2d_backprop_filter: not in this build");
}
#endif

}  // namespace distribute
