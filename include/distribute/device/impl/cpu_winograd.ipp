#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/avx2_products.hpp>
#include <distribute/device/detail/cpu_winograd.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/detail/grouped_image.hpp>
#include <distribute/device/detail/prepared_values.hpp>
#include <distribute/device/detail/winograd_points.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace distribute::winograd_internal {

using device_internal::HeldImage;
using device_internal::plain_array;
using device_internal::turn_filters;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define DISTRIBUTE_HAS_WINOGRAD 1
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")
/// Vectors of 16 channels.
struct Avx512 {
#include <distribute/device/impl/simd_avx512.inc>

#include <distribute/device/impl/grouped_products.inc>

#include <distribute/device/impl/winograd_transforms.inc>

#include <distribute/device/impl/winograd_filters.inc>
};
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma")
struct Avx2 : device_internal::Avx2Products {
#include <distribute/device/impl/winograd_transforms.inc>

#include <distribute/device/impl/winograd_filters.inc>
};
#pragma GCC pop_options

#include <distribute/device/impl/winograd_passes.inc>

/// Calls fn with the algorithm for square filters of `size`, both with tiles of 4 x 4 outputs: 64
/// multiplications where the direct sum needs 400, or 36 where it needs 144.
template <typename Kernels, typename Fn>
void with_kernels(int64_t size, int64_t batch, Conv2DShape::Pair outputs, Conv2DShape::Pair pad,
                  int64_t in_channels, int64_t out_channels, const Fn& fn) {
  if (size == 5)
    fn(Winograd<Kernels, 8, 5>(batch, outputs, pad, in_channels, out_channels));
  else
    fn(Winograd<Kernels, 6, 3>(batch, outputs, pad, in_channels, out_channels));
}

/// Calls fn with the algorithm for this machine.
template <typename Fn>
void with_winograd(int64_t size, int64_t batch, Conv2DShape::Pair outputs, Conv2DShape::Pair pad,
                   int64_t in_channels, int64_t out_channels, const Fn& fn) {
  if (simd_level() == 2)
    with_kernels<Avx512>(size, batch, outputs, pad, in_channels, out_channels, fn);
  else
    with_kernels<Avx2>(size, batch, outputs, pad, in_channels, out_channels, fn);
}
#endif

}  // namespace distribute::winograd_internal

namespace distribute {

DISTRIBUTE_INLINE int64_t winograd_block() { return simd_level() == 2 ? 16 : 8; }

DISTRIBUTE_INLINE bool winograd_suits(const Conv2DShape& s) {
#ifdef DISTRIBUTE_HAS_WINOGRAD
  using Pair = Conv2DShape::Pair;
  const bool large = s.kernel == Pair{5, 5}, small = s.kernel == Pair{3, 3};
  const bool possible = simd_level() > 0 && s.dtype == DType::Float32 && s.groups == 1 &&
                        (large || small) && s.stride == Pair{1, 1} && s.dilation == Pair{1, 1} &&
                        s.in_channels % 16 == 0 && s.out_channels % 16 == 0;
  if (!possible || !device_state().allow_winograd) return false;
  // Measurements show that it is hardly ever slower within these bounds. Tiles that extend beyond
  // the border cost as much as others; with few channels the transforms cost too much, and the sums
  // of many do not fit into the caches.
  const int64_t tiles = ((s.out[0] + 3) / 4) * ((s.out[1] + 3) / 4);
  const int64_t points = large ? 64 : 36, taps = s.kernel[0] * s.kernel[1];
  if (small && std::min(s.in_channels, s.out_channels) < 32) return false;
  const int64_t filters = s.in_channels * s.out_channels, usual = large ? 128 * 256 : 256 * 256;
  // Direct kernels for AVX2 are so slow that filters read from the third cache pay, given enough
  // tiles.
  const bool many = simd_level() == 1 && small && filters <= 512 * 512 && s.batch * tiles >= 32;
  return tiles * points * 3 <= s.out[0] * s.out[1] * taps && s.batch * tiles >= 16 &&
         (filters <= usual || many);
#else
  (void)s;
  return false;
#endif
}

#ifdef DISTRIBUTE_HAS_WINOGRAD
DISTRIBUTE_INLINE Array winograd_conv2d(const Conv2DShape& s, const Array& x, const Array& w,
                                        const Array* bias, Epilogue epilogue,
                                        const LayoutPtr& y_layout) {
  using namespace winograd_internal;
  Array y =
      make_array(s.batch * s.out[0] * s.out[1] * s.out_channels * 4, x.buffer->device(), y_layout);
  const HeldImage source(x, s.in, s.in_channels, winograd_block()),
      target(y, s.out, s.out_channels, winograd_block());
  const Array filters = plain_array(w);
  with_winograd(s.kernel[0], s.batch, s.out, s.pad_before, s.in_channels, s.out_channels,
                [&](const auto& plan) {
                  plan.forward(source.image, filters, bias ? bias->data<float>() : nullptr,
                               epilogue == Epilogue::Relu, target.image);
                });
  return y;
}

DISTRIBUTE_INLINE Array winograd_conv2d_backprop_input(const Conv2DShape& s, const Array& dy,
                                                       const Array& w, const LayoutPtr& x_layout) {
  using namespace winograd_internal;
  Array dx =
      make_array(s.batch * s.in[0] * s.in[1] * s.in_channels * 4, dy.buffer->device(), x_layout);
  const HeldImage source(dy, s.out, s.out_channels, winograd_block()),
      target(dx, s.in, s.in_channels, winograd_block());
  const Array filters = plain_array(w);
  const int64_t reach = s.kernel[0] - 1;
  const Conv2DShape::Pair pad{reach - s.pad_before[0], reach - s.pad_before[1]};
  with_winograd(
      s.kernel[0], s.batch, s.in, pad, s.out_channels, s.in_channels,
      [&](const auto& plan) { plan.forward_turned(source.image, filters, target.image); });
  return dx;
}

DISTRIBUTE_INLINE Array winograd_conv2d_backprop_filter(const Conv2DShape& s, const Array& x,
                                                        const Array& dy, Array* bias_gradient) {
  using namespace winograd_internal;
  Array dw = make_array(s.kernel[0] * s.kernel[1] * s.in_channels * s.out_channels * 4,
                        x.buffer->device());
  if (bias_gradient) *bias_gradient = make_array(s.out_channels * 4, x.buffer->device());
  const HeldImage inputs(x, s.in, s.in_channels, winograd_block()),
      gradients(dy, s.out, s.out_channels, winograd_block());
  with_winograd(s.kernel[0], s.batch, s.out, s.pad_before, s.in_channels, s.out_channels,
                [&](const auto& plan) {
                  plan.filter_gradient(inputs.image, gradients.image, dw.data<float>(),
                                       bias_gradient ? bias_gradient->data<float>() : nullptr);
                });
  return dw;
}
#else
DISTRIBUTE_INLINE Array winograd_conv2d(const Conv2DShape&, const Array&, const Array&,
                                        const Array*, Epilogue, const LayoutPtr&) {
  throw UnimplementedError("winograd_conv2d: not in this build; see winograd_suits");
}
DISTRIBUTE_INLINE Array winograd_conv2d_backprop_input(const Conv2DShape&, const Array&,
                                                       const Array&, const LayoutPtr&) {
  throw UnimplementedError("winograd_conv2d_backprop_input: not in this build");
}
DISTRIBUTE_INLINE Array winograd_conv2d_backprop_filter(const Conv2DShape&, const Array&,
                                                        const Array&, Array*) {
  throw UnimplementedError("winograd_conv2d_backprop_filter: not in this build");
}
#endif

}  // namespace distribute
