#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/broadcast.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

#include <algorithm>

namespace distribute::ops_internal {

DISTRIBUTE_INLINE std::vector<BroadcastAxis> broadcast_axes(const Shape& out, const Shape& a,
                                                            const Shape& b) {
  std::vector<BroadcastAxis> axes;  // innermost first
  int64_t a_step = 1, b_step = 1;
  for (int i = 1; i <= out.rank(); ++i) {
    const int64_t size = out[-i];
    const int64_t in_a = i <= a.rank() ? a[-i] : 1, in_b = i <= b.rank() ? b[-i] : 1;
    const BroadcastAxis axis{size, in_a == 1 ? 0 : a_step, in_b == 1 ? 0 : b_step};
    a_step *= in_a;
    b_step *= in_b;
    if (size == 1) continue;
    if (!axes.empty() && axis.a == axes.back().a * axes.back().size &&
        axis.b == axes.back().b * axes.back().size)
      axes.back().size *= size;
    else
      axes.push_back(axis);
  }
  if (axes.empty()) axes.push_back({out.num_elements(), 1, 1});
  std::reverse(axes.begin(), axes.end());
  return axes;
}

/// The blocks of a binary loop, and the sizes of their elements in bytes.
struct BinaryBlocks {
  const char *a, *b;
  char* out;
  int64_t size, out_size;
};

/// Computes rows [begin, end) of the two innermost axes, for all outer ones.
DISTRIBUTE_INLINE void broadcast_rows(const std::vector<BroadcastAxis>& axes,
                                      const BinaryBlocks& blocks, StripLoop loop, int64_t begin,
                                      int64_t end) {
  const BroadcastAxis inner = axes.back(), rows = axes[axes.size() - 2];
  for (int64_t row = begin; row < end;) {
    int64_t left = row / rows.size, in_a = row % rows.size * rows.a,
            in_b = row % rows.size * rows.b;
    for (size_t i = axes.size() - 2; i-- > 0; left /= axes[i].size) {
      in_a += left % axes[i].size * axes[i].a;
      in_b += left % axes[i].size * axes[i].b;
    }
    const int64_t count = std::min(rows.size - row % rows.size, end - row);
    loop(blocks.a + in_a * blocks.size, blocks.b + in_b * blocks.size,
         blocks.out + row * inner.size * blocks.out_size,
         {count, inner.size, rows.a, rows.b, inner.a, inner.b});
    row += count;
  }
}

DISTRIBUTE_INLINE void run_broadcast(const std::vector<BroadcastAxis>& axes,
                                     const BinaryBlocks& blocks, StripLoop loop) {
  constexpr int64_t kGrain = 16384;
  const BroadcastAxis inner = axes.back();
  if (axes.size() == 1) {
    parallel_for(inner.size, kGrain, [&](int64_t begin, int64_t end) {
      loop(blocks.a + begin * inner.a * blocks.size, blocks.b + begin * inner.b * blocks.size,
           blocks.out + begin * blocks.out_size, {1, end - begin, 0, 0, inner.a, inner.b});
    });
    return;
  }
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < axes.size(); ++i) rows *= axes[i].size;
  parallel_for(rows, std::max<int64_t>(kGrain / std::max<int64_t>(inner.size, 1), 1),
               [&](int64_t begin, int64_t end) { broadcast_rows(axes, blocks, loop, begin, end); });
}

/// Gives the layout of the result: that of the operands with the result's shape.
DISTRIBUTE_INLINE LayoutPtr common_layout(const Tensor& a, const Tensor& b, const Shape& out) {
  const auto fits = [&](const Tensor& x, const Tensor& other) {
    return x.layout() && x.layout()->dense() && x.shape() == out &&
           (other.shape() == out || other.num_elements() == 1);
  };
  return fits(a, b) ? a.layout() : fits(b, a) ? b.layout() : nullptr;
}

/// Applies `loop` to operands of the type in which it computes.
DISTRIBUTE_INLINE Tensor broadcast_apply(const Tensor& a, const Tensor& b, const Shape& shape,
                                         DType out_type, StripLoop loop) {
  const LayoutPtr layout = out_type == a.dtype() ? common_layout(a, b, shape) : nullptr;
  const Tensor x = in_layout(a, a.shape() == shape ? layout : nullptr);
  const Tensor y = in_layout(b, b.shape() == shape ? layout : nullptr);
  // not the device of a broadcast constant
  const Device device = a.shape() == shape ? a.device() : b.device();
  Tensor out = Tensor::empty(shape, out_type, device, layout);
  if (shape.num_elements() == 0) return out;
  run_broadcast(broadcast_axes(shape, a.shape(), b.shape()),
                {x.array().bytes(), y.array().bytes(), out.array().bytes(), size_of(a.dtype()),
                 size_of(out_type)},
                loop);
  return out;
}

DISTRIBUTE_INLINE Tensor broadcast_binary(const char* op, const Tensor& a, const Tensor& b,
                                          const BinaryLoops& loops) {
  const DType dtype = a.dtype();
  if (b.dtype() != dtype)
    throw InvalidArgumentError(str_cat(op, ": operands have different dtypes: ", name_of(dtype),
                                       " ", to_string(a.shape()), " and ", name_of(b.dtype()), " ",
                                       to_string(b.shape())));
  const StripLoop loop = is_floating(dtype) ? loops.of_float : loops.of_int64;
  if (!loop) throw InvalidArgumentError(str_cat(op, ": not for dtype ", name_of(dtype)));
  const Shape shape = broadcast_shapes(op, a.shape(), b.shape());
  if (const Device device = device_of({a, b}); is_gpu(device))
    return gpu_broadcast(a, b, shape, loops.gives_bool ? DType::Bool : dtype, loops.row, device);
  const DType computed = is_floating(dtype) ? DType::Float32 : DType::Int64;
  const DType result = loops.gives_bool ? DType::Bool : computed;
  const Tensor out =
      broadcast_apply(converted(a, computed), converted(b, computed), shape, result, loop);
  return loops.gives_bool ? out : converted(out, dtype);
}

struct First {
  auto operator()(auto a, auto) const { return a; }
};

DISTRIBUTE_INLINE Tensor reshaped(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return record("reshape", {x}, tensor_internal::viewed(x, shape),
                [from = x.shape()](const Backward& b) -> std::vector<Tensor> {
                  return {reshaped(b.gradient(), from)};
                });
}

DISTRIBUTE_INLINE Tensor expand_to_shape(const char* op, const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (broadcast_shapes(op, x.shape(), shape) != shape)
    throw InvalidArgumentError(
        str_cat(op, ": ", to_string(x.shape()), " does not broadcast to ", to_string(shape)));
  const auto expanded = [&] {
    if (on_gpu(x)) return gpu_expand(x, shape, x.device());
    const bool floating = is_floating(x.dtype());
    const Tensor from = converted(x, floating ? DType::Float32 : DType::Int64);
    const StripLoop loop = floating ? strip_loop<First, float> : strip_loop<First, int64_t>;
    return converted(broadcast_apply(from, from, shape, from.dtype(), loop), x.dtype());
  };
  const Tensor out = expanded();
  return record("broadcast_to", {x}, out,
                [to = x.shape()](const Backward& b) -> std::vector<Tensor> {
                  return {sum_to_shape(b.gradient(), to)};
                });
}

DISTRIBUTE_INLINE Tensor sum_to_shape(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  std::vector<int> axes;
  const int extra = x.shape().rank() - shape.rank();
  for (int i = 0; i < x.shape().rank(); ++i)
    if (i < extra || (shape[i - extra] == 1 && x.shape()[i] != 1)) axes.push_back(i);
  return axes.empty() ? reshaped(x, shape) : reshaped(reduce_sum(x, axes), shape);
}

}  // namespace distribute::ops_internal
