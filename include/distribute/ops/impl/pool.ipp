#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/detail/gpu_lines.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace distribute::ops_internal {

inline constexpr int kMaxTaps = 1024;
/// Larger gradients bypass the caches. This is about half of a server core's third-level cache.
inline constexpr int64_t kStreamedBytes = 16 << 20;
/// The lowest number of an element type.
template <typename T>
inline constexpr float kLowest = -std::numeric_limits<float>::max();
template <>
inline constexpr float kLowest<bfloat16> = -0x1.fep127f;
inline constexpr int32_t kClosed = 128;  // added to the winner's number if it is not positive

/// A pooling over a block [images, in[0], in[1], inner]: row-major NHWC with images = batch and
/// inner = channels, or channels in groups of `inner`.
struct PoolBlock {
  int64_t images = 0, inner = 0;
  std::array<int64_t, 2> in{}, out{}, ksize{}, stride{}, pad{};
  int64_t in_step() const { return in[0] * in[1] * inner; }
  int64_t out_step() const { return out[0] * out[1] * inner; }
  /// The step from one window of a row to the next.
  int64_t in_column() const { return stride[1] * inner; }
  /// True when every input element belongs to exactly one window.
  bool tiles() const {
    for (size_t a = 0; a < 2; ++a)
      if (ksize[a] != stride[a] || pad[a] || in[a] != out[a] * stride[a]) return false;
    return true;
  }
};

/// The elements of one window that lie inside the image, as offsets from its first corner, in
/// elements.
struct PoolTaps {
  int count = 0;
  std::array<int64_t, 2> first{-1, -1}, last{};
  int64_t offset[kMaxTaps];
  int32_t number[kMaxTaps];

  /// Prepares the window at (oy, ox); returns the element of the image from which offsets count.
  /// Offsets are computed again only at borders, where the window is cut.
  int64_t place(const PoolBlock& p, int64_t oy, int64_t ox) {
    const std::array<int64_t, 2> corner{oy * p.stride[0] - p.pad[0], ox * p.stride[1] - p.pad[1]};
    std::array<int64_t, 2> from, to;
    for (size_t a = 0; a < 2; ++a) {
      from[a] = std::max<int64_t>(-corner[a], 0);
      to[a] = std::min(p.ksize[a], p.in[a] - corner[a]);
    }
    if (from != first || to != last) {
      first = from, last = to, count = 0;
      for (int64_t ky = from[0]; ky < to[0]; ++ky)
        for (int64_t kx = from[1]; kx < to[1]; ++kx) {
          offset[count] = (ky * p.in[1] + kx) * p.inner;
          number[count++] = int32_t(ky * p.ksize[1] + kx);
        }
    }
    return (corner[0] * p.in[1] + corner[1]) * p.inner;
  }

  /// Calls fn(from, to, n) for every run of n windows of one image with the same offsets. `from` is
  /// the element from which the first window's offsets count, `to` the element of its result.
  /// Windows of a row that no border cuts form one run.
  template <typename Fn>
  void for_runs(const PoolBlock& p, const Fn& fn) {
    const int64_t first_whole = (p.pad[1] + p.stride[1] - 1) / p.stride[1];
    const int64_t room = p.in[1] + p.pad[1] - p.ksize[1];
    const int64_t end_whole = room < 0 ? 0 : std::min(room / p.stride[1] + 1, p.out[1]);
    for (int64_t oy = 0; oy < p.out[0]; ++oy)
      for (int64_t ox = 0, n = 1; ox < p.out[1]; ox += n) {
        n = ox >= first_whole && ox < end_whole ? end_whole - ox : 1;
        const int64_t from = place(p, oy, ox);
        fn(from, (oy * p.out[1] + ox) * p.inner, n);
      }
  }
};

/// The windows that contain an element of the image: the place of each in the result, and the
/// element's number in it.
struct PoolWindows {
  int count = 0;
  int64_t offset[kMaxTaps];
  int32_t number[kMaxTaps];

  void place(const PoolBlock& p, int64_t iy, int64_t ix) {
    const std::array<int64_t, 2> at{iy + p.pad[0], ix + p.pad[1]};
    std::array<int64_t, 2> from, to;
    for (size_t a = 0; a < 2; ++a) {
      from[a] = at[a] < p.ksize[a] ? 0 : (at[a] - p.ksize[a]) / p.stride[a] + 1;
      to[a] = std::min(at[a] / p.stride[a] + 1, p.out[a]);
    }
    count = 0;
    for (int64_t oy = from[0]; oy < to[0]; ++oy)
      for (int64_t ox = from[1]; ox < to[1]; ++ox) {
        offset[count] = (oy * p.out[1] + ox) * p.inner;
        number[count++] =
            int32_t((at[0] - oy * p.stride[0]) * p.ksize[1] + at[1] - ox * p.stride[1]);
      }
  }
};

template <typename T>
struct MaxPoolKernels {
  void (*forward)(const PoolBlock& p, const T* x, T* y, uint8_t* winners, bool gate, int64_t begin,
                  int64_t end);
  void (*backward)(const PoolBlock& p, const T* dy, const uint8_t* winners, T* dx, bool tiles,
                   int32_t mask, int64_t begin, int64_t end);
};

}  // namespace distribute::ops_internal

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")
#define DISTRIBUTE_LANES 16
namespace distribute::ops_internal::avx512 {
#include <distribute/ops/impl/max_pool_kernels.inc>
}
#undef DISTRIBUTE_LANES
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define DISTRIBUTE_LANES 8
namespace distribute::ops_internal::avx2 {
#include <distribute/ops/impl/max_pool_kernels.inc>
}
#undef DISTRIBUTE_LANES
#pragma GCC pop_options
#define DISTRIBUTE_POOL_VARIANTS 1
#endif
#define DISTRIBUTE_LANES 4
namespace distribute::ops_internal::baseline {
#include <distribute/ops/impl/max_pool_kernels.inc>
}
#undef DISTRIBUTE_LANES

namespace distribute {

namespace ops_internal {

template <typename T>
MaxPoolKernels<T> max_pool_kernels() {
#ifdef DISTRIBUTE_POOL_VARIANTS
  if (simd_level() == 2) return avx512::max_pool_kernels<T>();
  if (simd_level() == 1) return avx2::max_pool_kernels<T>();
#endif
  return baseline::max_pool_kernels<T>();
}

/// Calls fn(T{}) with the element type of x, one that the kernels know.
template <typename Fn>
auto with_pool_type(const Tensor& x, const Fn& fn) {
  return x.dtype() == DType::BFloat16 ? fn(bfloat16{}) : fn(float{});
}

/// A pooling of x: sizes, and the layout that x and y keep (null: row-major).
struct PoolPlan {
  PoolBlock block;
  LayoutPtr x_layout, y_layout;
  Shape y_shape;
};

DISTRIBUTE_INLINE PoolPlan plan_pool(const char* op, const Tensor& x, const nn::PoolOptions& o,
                                     int64_t max_taps) {
  const Shape& shape = x.shape();
  if (shape.rank() != 4)
    throw InvalidArgumentError(str_cat(
        op, ": the input must be [batch, height, width, channels], got ", to_string(shape)));
  PoolPlan plan;
  PoolBlock& p = plan.block;
  p.ksize = o.ksize;
  if (o.ksize[0] * o.ksize[1] > max_taps)
    throw InvalidArgumentError(str_cat(op, ": windows of more than ", max_taps,
                                       " elements are not ", "supported, got ", o.ksize[0], " x ",
                                       o.ksize[1]));
  for (size_t a = 0; a < 2; ++a) {
    p.in[a] = shape[1 + int(a)];
    p.stride[a] = o.strides[a] ? o.strides[a] : o.ksize[a];
    const auto axis = window_axis(op, p.in[a], p.ksize[a], p.stride[a], 1, o.padding,
                                  o.explicit_paddings[2 * a], o.explicit_paddings[2 * a + 1]);
    p.out[a] = axis.out;
    p.pad[a] = axis.pad_before;
    if (axis.pad_before >= p.ksize[a] || axis.pad_after >= p.ksize[a])
      throw InvalidArgumentError(str_cat(op, ": padding must be smaller than the window"));
  }
  plan.y_shape = {shape[0], p.out[0], p.out[1], shape[3]};
  p.images = shape[0];
  p.inner = shape[3];
  const LayoutPtr& layout = x.layout();
  if (layout && layout->dense() && !layout->image_block().empty()) {
    plan.x_layout = layout;
    plan.y_layout = layout->resized_image(p.out[0], p.out[1]);
    p.images = layout->image_block()[0];
    p.inner = layout->image_block()[3];
  }
  return plan;
}

DISTRIBUTE_INLINE GpuPool2D gpu_pool_of(const PoolBlock& p) {
  return {p.in, p.out, p.ksize, p.stride, p.pad, p.images, p.inner};
}

/// Also writes a byte for each result that says which element of its window it is. Finding it again
/// in the backward pass would read each window once for each of its elements.
DISTRIBUTE_INLINE Tensor gpu_max_pool(const PoolPlan& plan, const Tensor& x) {
  const GpuPool2D pool = gpu_pool_of(plan.block);
  const Tensor winners = Tensor::empty(plan.y_shape, DType::UInt8, x.device());
  const Tensor y = gpu_pool("max_pool", pool, x, winners, plan.y_shape);
  const bool relu = TensorHints::of(x).relu_output;
  return record("max_pool2d", {x}, y, [=, shape = x.shape()](const Backward& b) {
    const bool gate = relu && b.is_private(0);
    Tensor dx = gpu_pool("max_pool_gradient", pool, winners,
                         brought_to(b.gradient(), winners.device()), shape, gate);
    if (gate) TensorHints::of(dx).gated = true;
    return std::vector<Tensor>{
        record("max_pool2d_grad", {b.gradient()}, dx, no_gradient("the gradient of max_pool2d"))};
  });
}

DISTRIBUTE_INLINE Tensor max_pool_gradient(const PoolPlan& plan, const Shape& x_shape,
                                           const Tensor& dy, const Tensor& winners, bool gated) {
  const PoolBlock p = plan.block;
  const Tensor gradient = in_layout(dy, plan.y_layout);
  Tensor dx = Tensor::empty(x_shape, dy.dtype(), dy.device(), plan.x_layout);
  const bool tiles = p.tiles();
  const uint8_t* index = winners.data<uint8_t>().data();
  const int32_t mask = gated ? 255 : kClosed - 1;
  with_pool_type(dy, [&](auto type) {
    using T = decltype(type);
    T* to = dx.array().data<T>();
    const T* from = gradient.array().data<T>();
    const auto run = max_pool_kernels<T>().backward;
    parallel_for(p.images, 1,
                 [=](int64_t b, int64_t e) { run(p, from, index, to, tiles, mask, b, e); });
  });
  if (gated) TensorHints::of(dx).gated = true;
  return dx;
}

/// Calls fn(window element, weight) for every element of every window of one image.
template <typename Fn>
void for_each_average(const PoolBlock& p, Fn fn) {
  PoolTaps taps;
  taps.for_runs(p, [&](int64_t from, int64_t to, int64_t n) {
    const float weight = 1.0f / float(taps.count);
    for (const int64_t end = to + n * p.inner; to < end; to += p.inner, from += p.in_column())
      for (int t = 0; t < taps.count; ++t) fn(to, from + taps.offset[t], weight, t == 0);
  });
}

DISTRIBUTE_INLINE Tensor avg_pool_gradient(const PoolPlan& plan, const Shape& x_shape,
                                           const Tensor& dy) {
  const PoolBlock p = plan.block;
  if (on_gpu(dy)) return gpu_pool("avg_pool_gradient", gpu_pool_of(p), {}, dy, x_shape);
  const Tensor gradient = in_layout(dy, plan.y_layout);
  Tensor dx = Tensor::empty(x_shape, DType::Float32, dy.device(), plan.x_layout);
  float* to = dx.array().data<float>();
  const float* from = gradient.array().data<float>();
  parallel_for(p.images, 1, [=](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      std::memset(to + n * p.in_step(), 0, size_t(p.in_step()) * sizeof(float));
      for_each_average(p, [&](int64_t out, int64_t in, float weight, bool) {
        const float* source = from + n * p.out_step() + out;
        float* target = to + n * p.in_step() + in;
        for (int64_t c = 0; c < p.inner; ++c) target[c] += weight * source[c];
      });
    }
  });
  return dx;
}

DISTRIBUTE_INLINE Tensor avg_pool_forward(const PoolPlan& plan, const Tensor& x) {
  const PoolBlock p = plan.block;
  if (on_gpu(x)) return gpu_pool("avg_pool", gpu_pool_of(p), x, {}, plan.y_shape);
  Tensor y = Tensor::empty(plan.y_shape, DType::Float32, x.device(), plan.y_layout);
  const float* from = x.array().data<float>();
  float* to = y.array().data<float>();
  parallel_for(p.images, 1, [=](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n)
      for_each_average(p, [&](int64_t out, int64_t in, float weight, bool first) {
        const float* source = from + n * p.in_step() + in;
        float* target = to + n * p.out_step() + out;
        for (int64_t c = 0; c < p.inner; ++c)
          target[c] = (first ? 0.0f : target[c]) + weight * source[c];
      });
  });
  return y;
}

DISTRIBUTE_INLINE Tensor avg_pool_recorded(const PoolPlan& plan, const Tensor& x);

/// The gradient is linear in dy, so its own gradient is the forward pass.
DISTRIBUTE_INLINE Tensor avg_pool_gradient_recorded(const PoolPlan& plan, const Shape& x_shape,
                                                    const Tensor& dy) {
  return record(
      "avg_pool2d_grad", {dy}, avg_pool_gradient(plan, x_shape, dy), [plan](const Backward& b) {
        return std::vector<Tensor>{avg_pool_recorded(plan, in_layout(b.gradient(), plan.x_layout))};
      });
}

DISTRIBUTE_INLINE Tensor avg_pool_recorded(const PoolPlan& plan, const Tensor& x) {
  return record("avg_pool2d", {x}, avg_pool_forward(plan, x),
                [plan, shape = x.shape()](const Backward& b) {
                  return std::vector<Tensor>{avg_pool_gradient_recorded(plan, shape, b.gradient())};
                });
}

}  // namespace ops_internal

namespace ops_internal {

DISTRIBUTE_INLINE OpAttributes pool_attributes(const nn::PoolOptions& o) {
  const auto list = [](const auto& a) { return std::vector<int64_t>(a.begin(), a.end()); };
  return {{"ksize", list(o.ksize)},
          {"strides", list(o.strides[0] ? o.strides : o.ksize)},
          {"padding", int64_t(o.padding)},
          {"explicit_paddings", list(o.explicit_paddings)}};
}

}  // namespace ops_internal

namespace nn {

DISTRIBUTE_INLINE Tensor max_pool2d(const Tensor& x, const PoolOptions& options) {
  using namespace ops_internal;
  const auto attributes = [&] { return pool_attributes(options); };
  if (on_gpu(x)) {
    const Tensor y = gpu_max_pool(plan_pool("max_pool2d", x, options, kClosed - 1), x);
    return record_composite("max_pool2d", {x}, y, attributes);
  }
  if (x.dtype() == DType::Float16)
    return cast(max_pool2d(cast(x, DType::Float32), options), x.dtype());
  const PoolPlan plan = plan_pool("max_pool2d", x, options, kClosed - 1);
  const PoolBlock p = plan.block;
  const Tensor source = in_layout(x, plan.x_layout);
  Tensor y = Tensor::empty(plan.y_shape, x.dtype(), x.device(), plan.y_layout);
  Tensor winners = Tensor::empty({p.images * p.out_step()}, DType::UInt8, x.device());
  const bool gate = TensorHints::of(x).relu_output;
  uint8_t* index = winners.mutable_data<uint8_t>();
  with_pool_type(x, [&](auto type) {
    using T = decltype(type);
    const T* from = source.array().data<T>();
    T* to = y.array().data<T>();
    const auto run = max_pool_kernels<T>().forward;
    parallel_for(p.images, 1, [=](int64_t b, int64_t e) { run(p, from, to, index, gate, b, e); });
  });
  const BackwardFunction gradient = [=, x_shape = x.shape()](const Backward& b) {
    // A window without a positive element loses its gradient in the ReLU below. That is applied
    // here already if only the operation with that ReLU reads the result.
    // here already when only the operation with that ReLU reads the result.
    const Tensor dx =
        max_pool_gradient(plan, x_shape, b.gradient(), winners, gate && b.is_private(0));
    return std::vector<Tensor>{
        record("max_pool2d_grad", {b.gradient()}, dx, no_gradient("the gradient of max_pool2d"))};
  };
  return record("max_pool2d", {x}, y, gradient, attributes);
}

DISTRIBUTE_INLINE Tensor avg_pool2d(const Tensor& x, const PoolOptions& options) {
  using namespace ops_internal;
  if (!is_floating(x.dtype()))
    throw InvalidArgumentError(str_cat("avg_pool2d: the input must be floating, got ",
                                       name_of(x.dtype()), "; cast() it first"));
  if (is_half(x.dtype()) && !on_gpu(x))
    return cast(avg_pool2d(cast(x, DType::Float32), options), x.dtype());
  const PoolPlan plan = plan_pool("avg_pool2d", x, options, kMaxTaps);
  return record_composite("avg_pool2d", {x}, avg_pool_recorded(plan, in_layout(x, plan.x_layout)),
                          [&] { return pool_attributes(options); });
}

}  // namespace nn

}  // namespace distribute
