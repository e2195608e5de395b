#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/cpu_winograd.hpp>
#include <distribute/device/winograd_image.hpp>
#include <distribute/device/winograd_points.hpp>

#include <algorithm>

namespace distribute::winograd_internal {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define DISTRIBUTE_HAS_WINOGRAD 1
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")
namespace avx512 {
#include <distribute/device/impl/winograd_transforms.inc>

#include <distribute/device/impl/winograd_products.inc>
}  // namespace avx512
#pragma GCC pop_options

/// One convolution cut into tiles of N x N inputs and M x M outputs, for filters R x R. Tiles are
/// worked on in blocks of whole tile rows whose inputs, products and transformed filters stay in a
/// second-level cache of 1 MB.
template <int N, int R>
class Winograd {
 public:
  /// The convolution's outputs are `outputs` large, `pad` pixels lie before the input.
  Winograd(int64_t batch, Conv2DShape::Pair outputs, Conv2DShape::Pair pad, int64_t in_channels,
           int64_t out_channels)
      : in_(in_channels), out_(out_channels) {
    tiling_ = {pad, {(outputs[0] + M - 1) / M, (outputs[1] + M - 1) / M}};
    rows_ = batch * tiling_.tiles[0];
  }

  /// y = x * filters [R][R][in][out] + bias, clipped at zero for `relu`; `bias` may be null.
  void forward(const WinogradImage& x, const float* filters, const float* bias, bool relu,
               const WinogradImage& y) const {
    const Array transformed = transform_filters(filters);
    const Block block = block_of(400 << 10);
    const Array scratch = make_array(intra_op_threads() * block.floats * 4, Device{});
    in_parts([&](int64_t part, int64_t begin, int64_t end) {
      const Scratch own = scratch_of(block, scratch.data<float>() + part * block.floats);
      for (int64_t row = begin; row < end; row += block.rows) {
        const int64_t last = std::min(row + block.rows, end);
        forward_block(x, transformed.data<float>(), bias, relu, y, block, own, row, last);
      }
    });
  }

  /// dw [R][R][in][out] and, unless null, the sums of dy over all pixels.
  void filter_gradient(const WinogradImage& x, const WinogradImage& dy, float* dw,
                       float* bias) const {
    const Block block = block_of(640 << 10);
    const int64_t parts = intra_op_threads(), sums_size = kPositions * in_ * out_,
                  part_size = sums_size + out_;
    const Array scratch = make_array(parts * block.floats * 4, Device{});
    const Array partial = make_array(parts * part_size * 4, Device{});
    float* sums = partial.data<float>();
    in_parts([&](int64_t part, int64_t begin, int64_t end) {
      const Scratch own = scratch_of(block, scratch.data<float>() + part * block.floats);
      float* part_sums = sums + part * part_size;
      std::fill_n(part_sums, part_size, 0.0f);
      for (int64_t row = begin; row < end; row += block.rows)
        gradient_block(x, dy, block, own, part_sums, row, std::min(row + block.rows, end));
    });
    for_each_filter([=, this](int64_t c, int64_t o) {
      avx512::transform_filter_gradient<N, R>(sums, parts, part_size, in_, out_, c, o, dw);
    });
    for (int64_t o = 0; bias && o < out_; ++o) {
      bias[o] = 0;
      for (int64_t part = 0; part < parts; ++part)
        bias[o] += sums[part * part_size + sums_size + o];
    }
  }

 private:
  static constexpr int M = N - R + 1;
  static constexpr int64_t kPositions = N * N;

  /// Tile rows worked on at a time, and how their scratch memory is cut (in floats).
  struct Block {
    int64_t rows, in_step, out_step, strip, floats;
  };
  struct Scratch {
    float *strip, *inputs, *products;
  };

  /// As many tile rows as fit into `bytes`. Positions are not a multiple of 4 KB apart: they would
  /// collide in the cache.
  Block block_of(int64_t bytes) const {
    const int64_t row_bytes = kPositions * (in_ + out_) * 4 * tiling_.tiles[1];
    Block b;
    b.rows = std::clamp<int64_t>(bytes / row_bytes, 1, rows_);
    b.in_step = b.rows * tiling_.tiles[1] * in_ + 16;
    b.out_step = b.rows * tiling_.tiles[1] * out_ + 16;
    b.strip = (tiling_.tiles[1] * M + R - 1) * N * 16;
    b.floats = b.strip + kPositions * (b.in_step + b.out_step) + 64;
    return b;
  }

  Scratch scratch_of(const Block& b, float* base) const {
    return {base, base + b.strip, base + b.strip + kPositions * b.in_step};
  }

  /// Calls fn(part, begin, end) for equal parts of the tile rows, one a thread. The parts are the
  /// same when a caller's parallel region makes one thread do them all.
  template <typename Fn>
  void in_parts(Fn fn) const {
    const int64_t parts = intra_op_threads();
    parallel_for(parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part)
        fn(part, rows_ * part / parts, rows_ * (part + 1) / parts);
    });
  }

  /// Calls fn(input channel, first of 16 output channels) for all filters.
  template <typename Fn>
  void for_each_filter(Fn fn) const {
    parallel_for(in_, 8, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c)
        for (int64_t o = 0; o < out_; o += 16) fn(c, o);
    });
  }

  Array transform_filters(const float* filters) const {
    Array result = make_array(kPositions * in_ * out_ * 4, Device{});
    float* to = result.data<float>();
    for_each_filter([=, this](int64_t c, int64_t o) {
      avx512::transform_filter<N, R>(filters, in_, out_, c, o, to);
    });
    return result;
  }

  void transform_inputs(const WinogradImage& x, const Block& block, const Scratch& scratch,
                        int64_t begin, int64_t end) const {
    const int64_t down = tiling_.tiles[0], row_size = tiling_.tiles[1] * in_;
    for (int64_t row = begin; row < end; ++row)
      avx512::transform_input<N, M>(x, tiling_, row / down, row % down, scratch.strip,
                                    scratch.inputs + (row - begin) * row_size, block.in_step);
  }

  void forward_block(const WinogradImage& x, const float* filters, const float* bias, bool relu,
                     const WinogradImage& y, const Block& block, const Scratch& scratch,
                     int64_t begin, int64_t end) const {
    const int64_t down = tiling_.tiles[0], across = tiling_.tiles[1];
    transform_inputs(x, block, scratch, begin, end);
    for (int64_t p = 0; p < kPositions; ++p)
      for (int64_t o = 0; o < out_; o += 32) {
        const int64_t width = std::min<int64_t>(32, out_ - o);
        avx512::multiply({in_, 1, width, out_, (end - begin) * across, in_}, width,
                         scratch.inputs + p * block.in_step, filters + p * in_ * out_ + o * in_,
                         scratch.products + p * block.out_step + o, false);
      }
    for (int64_t row = begin; row < end; ++row)
      avx512::transform_output<N, M>(scratch.products + (row - begin) * across * out_,
                                     block.out_step, tiling_, row / down, row % down, bias, relu,
                                     y);
  }

  /// Adds a block's products to `sums` [position][in][out], and behind them its sums of dy.
  void gradient_block(const WinogradImage& x, const WinogradImage& dy, const Block& block,
                      const Scratch& scratch, float* sums, int64_t begin, int64_t end) const {
    const int64_t down = tiling_.tiles[0], across = tiling_.tiles[1];
    transform_inputs(x, block, scratch, begin, end);
    for (int64_t row = begin; row < end; ++row)
      avx512::transform_gradient<N, M>(dy, tiling_, row / down, row % down,
                                       scratch.products + (row - begin) * across * out_,
                                       block.out_step, sums + kPositions * in_ * out_);
    for (int64_t p = 0; p < kPositions; ++p)
      for (int64_t o = 0; o < out_; o += 32)
        avx512::multiply({1, in_, out_, out_, in_, (end - begin) * across},
                         std::min<int64_t>(32, out_ - o), scratch.inputs + p * block.in_step,
                         scratch.products + p * block.out_step + o, sums + p * in_ * out_ + o,
                         true);
  }

  int64_t in_, out_;  // channels
  int64_t rows_;      // tile rows of the whole batch
  WinogradTiling tiling_;
};

/// Tiles of 8 x 8: 64 multiplications for 16 outputs where the direct sum needs 400.
using Winograd5x5 = Winograd<8, 5>;
#endif

}  // namespace distribute::winograd_internal

namespace distribute {

DISTRIBUTE_INLINE bool winograd_suits(const Conv2DShape& s) {
#ifdef DISTRIBUTE_HAS_WINOGRAD
  using Pair = Conv2DShape::Pair;
  const bool possible = simd_level() == 2 && s.dtype == DType::Float32 && s.groups == 1 &&
                        s.kernel == Pair{5, 5} && s.stride == Pair{1, 1} &&
                        s.dilation == Pair{1, 1} && s.in_channels % 16 == 0 &&
                        s.out_channels % 16 == 0;
  if (!possible || !process_state().allow_winograd) return false;
  // Tiles that hang over the border cost as much as others; transforms cost the more the fewer
  // channels share them; filters should not be transformed for a handful of tiles.
  const int64_t tiles = ((s.out[0] + 3) / 4) * ((s.out[1] + 3) / 4);
  return tiles * 64 * 2 <= s.out[0] * s.out[1] * 25 && s.batch * tiles >= 64;
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
  Array y = make_array(s.batch * s.out[0] * s.out[1] * s.out_channels * 4, Device{}, y_layout);
  const HeldImage source(x, s.in, s.in_channels), target(y, s.out, s.out_channels);
  const Array filters = plain_array(w);
  const Winograd5x5 plan(s.batch, s.out, s.pad_before, s.in_channels, s.out_channels);
  plan.forward(source.image, filters.data<float>(), bias ? bias->data<float>() : nullptr,
               epilogue == Epilogue::Relu, target.image);
  return y;
}

DISTRIBUTE_INLINE Array winograd_conv2d_backprop_input(const Conv2DShape& s, const Array& dy,
                                                       const Array& w, const LayoutPtr& x_layout) {
  using namespace winograd_internal;
  Array dx = make_array(s.batch * s.in[0] * s.in[1] * s.in_channels * 4, Device{}, x_layout);
  const HeldImage source(dy, s.out, s.out_channels), target(dx, s.in, s.in_channels);
  const Array filters = turned_filters(plain_array(w), 25, s.in_channels, s.out_channels);
  const Conv2DShape::Pair pad{4 - s.pad_before[0], 4 - s.pad_before[1]};
  const Winograd5x5 plan(s.batch, s.in, pad, s.out_channels, s.in_channels);
  plan.forward(source.image, filters.data<float>(), nullptr, false, target.image);
  return dx;
}

DISTRIBUTE_INLINE Array winograd_conv2d_backprop_filter(const Conv2DShape& s, const Array& x,
                                                        const Array& dy, Array* bias_gradient) {
  using namespace winograd_internal;
  Array dw = make_array(25 * s.in_channels * s.out_channels * 4, Device{});
  if (bias_gradient) *bias_gradient = make_array(s.out_channels * 4, Device{});
  const HeldImage inputs(x, s.in, s.in_channels), gradients(dy, s.out, s.out_channels);
  const Winograd5x5 plan(s.batch, s.out, s.pad_before, s.in_channels, s.out_channels);
  plan.filter_gradient(inputs.image, gradients.image, dw.data<float>(),
                       bias_gradient ? bias_gradient->data<float>() : nullptr);
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
