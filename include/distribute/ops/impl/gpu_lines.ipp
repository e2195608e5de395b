#pragma once
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/device/detail/kernel_arguments.hpp>
#include <distribute/ops/detail/gpu_lines.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>

#include <algorithm>

namespace distribute::ops_internal {

inline constexpr char kLineText[] =
#include <distribute/device/kernels/softmax.cu.inc>
    ;
inline constexpr char kLayerNormText[] =
#include <distribute/device/kernels/layer_norm.cu.inc>
    ;
inline constexpr char kGatherText[] =
#include <distribute/device/kernels/strided.cu.inc>
    ;
inline constexpr char kScatterText[] =
#include <distribute/device/kernels/combine.cu.inc>
    ;
inline constexpr char kRandomText[] =
#include <distribute/device/kernels/random.cu.inc>
    ;
inline constexpr char kPoolText[] =
#include <distribute/device/kernels/pool.cu.inc>
    ;

/// Uses one block for each line.
DISTRIBUTE_INLINE LaunchShape block_for_each(int64_t lines) {
  return {.grid_x = unsigned(std::clamp<int64_t>(lines, 1, 65535))};
}

DISTRIBUTE_INLINE Tensor gpu_softmax(const Tensor& x, int64_t count, int64_t step, bool logarithm) {
  const Tensor from = x.row_major(), y = Tensor::empty(x.shape(), x.dtype(), x.device());
  if (y.num_elements() == 0) return y;
  const int64_t lines = x.num_elements() / count;
  const kernels::LineArguments arguments{
      from.array().bytes(), y.array().bytes(), lines, count, step, logarithm};
  launch_kernel(x.device(), {kLineText, "softmax", {}, {}, {x.dtype()}}, block_for_each(lines),
                arguments);
  return y;
}

DISTRIBUTE_INLINE Tensor gpu_arg_extreme(const Tensor& x, int64_t count, int64_t step,
                                         const Shape& shape, bool smallest) {
  const Tensor from = x.row_major(), y = Tensor::empty(shape, DType::Int64, x.device());
  if (y.num_elements() == 0) return y;
  const kernels::LineArguments arguments{
      from.array().bytes(), y.array().bytes(), y.num_elements(), count, step, smallest};
  launch_kernel(x.device(), {kLineText, "arg_extreme", {}, {}, {x.dtype()}},
                launch_for(y.num_elements()), arguments);
  return y;
}

DISTRIBUTE_INLINE kernels::CrossEntropyArguments label_arguments(const GpuLabels& labels,
                                                                 const Tensor& logits,
                                                                 const Tensor& statistics) {
  kernels::CrossEntropyArguments arguments{};
  if (labels.numbers) arguments.numbers = labels.numbers.array().data<int64_t>();
  if (labels.weights) arguments.weights = labels.weights.array().data<float>();
  arguments.x = logits.array().bytes();
  arguments.statistics = statistics.array().data<float>();
  arguments.classes = logits.shape()[-1];
  arguments.rows = logits.num_elements() / arguments.classes;
  arguments.smoothing = labels.smoothing;
  return arguments;
}

DISTRIBUTE_INLINE void gpu_cross_entropy(const GpuLabels& labels, const Tensor& logits,
                                         Tensor& loss, Tensor& statistics) {
  if (loss.num_elements() == 0) return;
  const Tensor x = logits.row_major();
  auto arguments = label_arguments(labels, x, statistics);
  arguments.out = loss.array().bytes();
  launch_kernel(x.device(), {kLineText, "cross_entropy", {}, {}, {x.dtype()}},
                block_for_each(arguments.rows), arguments);
}

DISTRIBUTE_INLINE Tensor gpu_cross_entropy_gradient(const GpuLabels& labels, const Tensor& logits,
                                                    const Tensor& statistics, const Tensor& dy) {
  const Tensor x = logits.row_major(), dx = Tensor::empty(x.shape(), x.dtype(), x.device());
  if (dx.num_elements() == 0) return dx;
  auto arguments = label_arguments(labels, x, statistics);
  const Tensor factor = brought_to(dy, x.device());
  arguments.dy = factor.array().data<float>();
  arguments.out = dx.array().bytes();
  launch_kernel(x.device(), {kLineText, "cross_entropy_gradient", {}, {}, {x.dtype()}},
                block_for_each(arguments.rows), arguments);
  return dx;
}

DISTRIBUTE_INLINE kernels::LayerNormArguments layer_norm_arguments(const LayerNormRows& n,
                                                                   const Tensor& out) {
  const auto values = [](const Tensor& t) { return t ? t.array().data<float>() : nullptr; };
  return {.x = n.x.array().bytes(),
          .dy = nullptr,
          .gamma = values(n.gamma),
          .beta = values(n.beta),
          .statistics = values(n.statistics),
          .out = out.array().bytes(),
          .rows = n.rows,
          .width = n.width,
          .piece = kLayerNormPiece,
          .epsilon = n.epsilon};
}

DISTRIBUTE_INLINE Tensor gpu_layer_norm(const LayerNormRows& n) {
  const Tensor y = Tensor::empty(n.x.shape(), n.x.dtype(), n.x.device());
  if (y.num_elements() == 0) return y;
  launch_kernel(y.device(), {kLayerNormText, "layer_norm", {}, {}, {y.dtype()}},
                block_for_each(n.rows), layer_norm_arguments(n, y));
  return y;
}

DISTRIBUTE_INLINE Tensor gpu_layer_norm_gradient(const LayerNormRows& n, const Tensor& dy) {
  const Tensor dx = Tensor::empty(n.x.shape(), n.x.dtype(), n.x.device());
  if (dx.num_elements() == 0) return dx;
  auto arguments = layer_norm_arguments(n, dx);
  arguments.dy = dy.array().bytes();
  launch_kernel(dx.device(), {kLayerNormText, "layer_norm_gradient", {}, {}, {dx.dtype()}},
                block_for_each(n.rows), arguments);
  return dx;
}

DISTRIBUTE_INLINE Tensor gpu_layer_norm_parameter_gradients(const LayerNormRows& n,
                                                            const Tensor& dy) {
  const int64_t pieces = (n.rows + kLayerNormPiece - 1) / kLayerNormPiece;
  const Tensor sums = Tensor::empty({pieces, 2, n.width}, DType::Float32, n.x.device());
  if (sums.num_elements() == 0) return fill({2, n.width}, 0, DType::Float32, n.x.device());
  auto arguments = layer_norm_arguments(n, sums);
  arguments.dy = dy.array().bytes();
  const int pack = int(16 / size_of(n.x.dtype()));
  launch_kernel(sums.device(), {kLayerNormText, "layer_norm_parameters", {}, {}, {n.x.dtype()}},
                launch_for(pieces * n.width, n.width % pack ? 1 : pack), arguments);
  return gpu_reduce(sums, {true, false, false}, binary_row<SumOf>()).view({2, n.width});
}

DISTRIBUTE_INLINE Tensor gpu_gather(const Tensor& x, const Tensor& index, const AxisView& axis,
                                    const Shape& shape) {
  const Tensor from = x.row_major(), y = Tensor::empty(shape, x.dtype(), x.device());
  if (y.num_elements() == 0) return y;
  const kernels::GatherArguments arguments{from.array().bytes(),
                                           index.array().data<int64_t>(),
                                           y.array().bytes(),
                                           axis.outer,
                                           axis.size,
                                           axis.inner,
                                           index.num_elements(),
                                           0,
                                           0};
  launch_kernel(x.device(), {kGatherText, "gather", {}, {}, {mover(size_of(x.dtype()))}},
                launch_for(y.num_elements(), 4), arguments);
  return y;
}

DISTRIBUTE_INLINE Tensor gpu_scatter(const Tensor& dy, const Tensor& index, const AxisView& axis,
                                     const Shape& shape) {
  const Tensor from = dy.row_major();
  const Tensor dx = fill(shape, 0, dy.dtype(), dy.device());
  if (dy.num_elements() == 0) return dx;
  const kernels::GatherArguments arguments{from.array().bytes(),
                                           index.array().data<int64_t>(),
                                           dx.array().bytes(),
                                           axis.outer,
                                           axis.size,
                                           axis.inner,
                                           index.num_elements(),
                                           0,
                                           0};
  launch_kernel(dy.device(), {kScatterText, "scatter_add", {}, {}, {dy.dtype(), DType::Int64}},
                launch_for(axis.outer * axis.inner), arguments);
  return dx;
}

DISTRIBUTE_INLINE Tensor gpu_one_hot(const Tensor& indices, const AxisView& axis, float on_value,
                                     float off_value, const Shape& shape, DType dtype) {
  const Tensor from = indices.row_major(), y = Tensor::empty(shape, dtype, indices.device());
  if (y.num_elements() == 0) return y;
  const kernels::GatherArguments arguments{
      from.array().bytes(), nullptr, y.array().bytes(), axis.outer, axis.size,
      axis.inner,           0,       on_value,          off_value};
  launch_kernel(indices.device(), {kScatterText, "one_hot", {}, {}, {dtype, indices.dtype()}},
                launch_for(y.num_elements(), 4), arguments);
  return y;
}

DISTRIBUTE_INLINE void gpu_random(const GpuRandom& random, const Tensor& x, Tensor& y) {
  if (y.num_elements() == 0) return;
  const Tensor from = x ? x.row_major() : x;
  const kernels::RandomArguments arguments{from ? from.array().bytes() : nullptr,
                                           y.array().bytes(),
                                           y.num_elements(),
                                           random.seed,
                                           random.counter,
                                           random.current,
                                           random.a,
                                           random.b,
                                           random.low,
                                           random.width,
                                           random.first};
  launch_kernel(y.device(), {kRandomText, random.function, {}, {}, {y.dtype()}},
                launch_for(y.num_elements(), 4), arguments);
}

DISTRIBUTE_INLINE Tensor gpu_pool(const char* function, const GpuPool2D& pool, const Tensor& x,
                                  const Tensor& dy, const Shape& shape, bool gate) {
  const Tensor image = x ? x.row_major() : x, gradient = dy ? dy.row_major() : dy;
  const Tensor& operand = dy && is_floating(dy.dtype()) ? dy : x;
  const Tensor y = Tensor::empty(shape, operand.dtype(), operand.device());
  if (y.num_elements() == 0) return y;
  const kernels::PoolArguments arguments{image ? image.array().bytes() : nullptr,
                                         gradient ? gradient.array().bytes() : nullptr,
                                         y.array().bytes(),
                                         pool.batch,
                                         pool.in[0],
                                         pool.in[1],
                                         pool.channels,
                                         pool.out[0],
                                         pool.out[1],
                                         int32_t(pool.ksize[0]),
                                         int32_t(pool.ksize[1]),
                                         int32_t(pool.stride[0]),
                                         int32_t(pool.stride[1]),
                                         int32_t(pool.pad[0]),
                                         int32_t(pool.pad[1]),
                                         gate};
  launch_kernel(operand.device(), {kPoolText, function, {}, {}, {operand.dtype()}},
                launch_for(y.num_elements()), arguments);
  return y;
}

}  // namespace distribute::ops_internal
