#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/channel_norm.hpp>
#include <distribute/ops/detail/gpu_batch_norm.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/detail/norm_passes.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

#include <algorithm>

namespace distribute {

namespace ops_internal {

/// Gives sum * factor for each channel as a tensor; empty when it is not needed.
template <typename Value>
Tensor channel_gradient(bool needed, const Tensor& x, const Value& value) {
  if (!needed) return {};
  Tensor result = Tensor::empty({x.shape()[-1]}, DType::Float32, x.device());
  float* out = result.mutable_data<float>();
  for (int64_t c = 0; c < x.shape()[-1]; ++c) out[c] = float(value(size_t(c)));
  return result;
}

DISTRIBUTE_INLINE void check_channels(const char* name, const Tensor& x, const Tensor& values) {
  if (values && values.shape() != Shape{x.shape()[-1]})
    throw InvalidArgumentError(str_cat("fused_batch_norm: ", name, " ", to_string(values.shape()),
                                       " does not fit the channels of ", to_string(x.shape())));
}

DISTRIBUTE_INLINE void check_norm_input(const char* op, const Tensor& x) {
  if (!is_floating(x.dtype()))
    throw InvalidArgumentError(
        str_cat(op, ": the input must be floating, got ", name_of(x.dtype()), "; cast() it first"));
  if (x.shape().rank() < 1)
    throw InvalidArgumentError(
        str_cat(op, ": ", name_of(x.dtype()), " ", to_string(x.shape()), " has no channels"));
}

DISTRIBUTE_INLINE void check_residual(const Tensor& x, const Tensor& residual) {
  if (residual && (residual.shape() != x.shape() || residual.dtype() != x.dtype()))
    throw InvalidArgumentError(str_cat("fused_batch_norm: the residual ", name_of(residual.dtype()),
                                       " ", to_string(residual.shape()), " is not as x, ",
                                       name_of(x.dtype()), " ", to_string(x.shape())));
}

/// Casts to float32, recorded; an empty tensor stays empty.
DISTRIBUTE_INLINE Tensor as_float(const Tensor& x) { return x ? cast(x, DType::Float32) : x; }

/// Gives [channels] from a tensor with that many elements in its last axis; empty for other shapes.
DISTRIBUTE_INLINE Tensor as_channels(const Tensor& values, int64_t channels) {
  const Shape& shape = values.shape();
  if (shape == Shape{channels}) return values;
  const bool fits = shape.rank() > 0 && shape[-1] == channels && shape.num_elements() == channels;
  return fits ? reshape(values, Shape{channels}) : Tensor();
}

DISTRIBUTE_INLINE Tensor first_of(std::span<const Tensor> parts) {
  return parts.empty() ? Tensor() : parts[0];
}

/// What the gradient of a normalization needs of its call; `y` is used if a residual was added.
struct NormCall {
  Tensor x, y;
  ChannelNorm norm;
  bool has_residual = false, through_statistics = false;
  bool gate_x = false;  // x came out of a ReLU
};

/// `residual_input` is the residual's position among the inputs of the recorded operation.
DISTRIBUTE_INLINE NormGradients gradients_of(const NormCall& call, const Backward& backward,
                                             size_t residual_input) {
  NormGradientInputs in{.dy = backward.gradient_parts(0)};
  if (call.through_statistics) {
    in.dmean = backward.gradient(1);
    in.dvariance = backward.gradient(2);
  }
  if (call.has_residual) in.y = call.y;
  in.through_statistics = call.through_statistics;
  in.want_dx = backward.needs(0);
  in.want_residual = call.has_residual && backward.needs(residual_input);
  in.gate_x = call.gate_x && backward.is_private(0);
  return norm_gradients(call.x, call.norm, in);
}

/// Normalizes float32 or bfloat16 tensors; the vectors are float32 [channels].
DISTRIBUTE_INLINE Tensor normalize_channels(const Tensor& input, const Tensor& mean,
                                            const Tensor& variance, const Tensor& offset,
                                            const Tensor& scale, float epsilon, Epilogue epilogue,
                                            const Tensor& residual = {}) {
  const Tensor x = with_channel_block(input);
  const ChannelBlock b = channel_block(x);
  ChannelNorm norm = make_channel_norm(x, b, scale, offset, epilogue);
  const auto means = mean.data<float>(), variances = variance.data<float>();
  for (size_t c = 0; c < means.size(); ++c) set_channel(norm, c, means[c], variances[c], epsilon);
  Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device(), x.layout());
  const Tensor other = residual ? in_layout(residual, x.layout()) : Tensor();
  sum_then_apply(
      b, [](int64_t, int64_t, LaneSums<float>&) {}, [](int64_t, const LaneSums<double>&) {},
      [&](int64_t group, int64_t piece) { normalize_piece(b, norm, x, other, y, group, piece); });
  if (epilogue == Epilogue::Relu) TensorHints::of(y).relu_output = true;
  const NormCall call{x,     residual ? y : Tensor(),           norm, bool(residual),
                      false, TensorHints::of(input).relu_output};
  const auto backward_function = [=](const Backward& backward) {
    const NormGradients g = gradients_of(call, backward, 5);
    const auto mean_gradient = [&](size_t c) { return -norm.factor[c] * g.sum[c]; };
    const auto variance_gradient = [&](size_t c) {
      return -0.5f * norm.factor[c] * norm.rstd[c] * norm.rstd[c] * g.product[c];
    };
    const auto scale_gradient = [&](size_t c) { return norm.rstd[c] * g.product[c]; };
    return final_gradients(
        "batch_normalization gradient", {call.x, first_of(backward.gradient_parts(0))},
        {g.dx, channel_gradient(backward.needs(1), call.x, mean_gradient),
         channel_gradient(backward.needs(2), call.x, variance_gradient),
         channel_gradient(backward.needs(3), call.x, [&](size_t c) { return g.sum[c]; }),
         channel_gradient(backward.needs(4), call.x, scale_gradient), g.residual});
  };
  return record("batch_normalization", {input, mean, variance, offset, scale, residual}, y,
                backward_function);
}

/// Computes the formula by single operations, for GPUs and for means that do not belong to
/// channels.
DISTRIBUTE_INLINE Tensor normalize_by_parts(const Tensor& x, const Tensor& mean,
                                            const Tensor& variance, const Tensor& offset,
                                            const Tensor& scale, float epsilon, Epilogue epilogue,
                                            const Tensor& residual = {}) {
  Tensor factor = rsqrt(variance + epsilon);
  if (scale) factor = factor * scale;
  Tensor y = (x - mean) * factor;
  if (offset) y = y + offset;
  if (residual) y = y + residual;
  return epilogue == Epilogue::Relu ? nn::relu(y) : y;
}

/// Computes the training form by single operations, for GPUs.
DISTRIBUTE_INLINE nn::FusedBatchNorm normalize_batch_by_parts(const Tensor& x, const Tensor& scale,
                                                              const Tensor& offset, float epsilon,
                                                              Epilogue epilogue,
                                                              const Tensor& residual) {
  if (x.num_elements() == 0) {
    const Tensor none = fill({x.shape()[-1]}, 0, DType::Float32, x.device());
    return {x, none, none, false};
  }
  std::vector<int> axes;
  for (int i = 0; i + 1 < x.shape().rank(); ++i) axes.push_back(i);
  const Tensor mean = reduce_mean(x, axes);
  const Tensor variance = reduce_mean(squared_difference(x, mean), axes);
  return {normalize_by_parts(x, mean, variance, offset, scale, epsilon, epilogue, residual), mean,
          variance, true};
}

/// Computes the training form of float32 or bfloat16 tensors.
DISTRIBUTE_INLINE nn::FusedBatchNorm normalize_batch(const Tensor& input, const Tensor& scale,
                                                     const Tensor& offset, float epsilon,
                                                     Epilogue epilogue, const Tensor& residual) {
  const Tensor x = with_channel_block(input);
  const ChannelBlock b = channel_block(x);
  const int64_t channels = x.shape()[-1];
  ChannelNorm norm = make_channel_norm(x, b, scale, offset, epilogue);
  std::vector<float> variances(size_t(b.channels), 0.0f);
  Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device(), x.layout());
  const Tensor other = residual ? in_layout(residual, x.layout()) : Tensor();
  channel_statistics(
      x, b,
      [&](size_t c, float mean, float variance) {
        variances[c] = variance;
        set_channel(norm, c, mean, variance, epsilon);
      },
      [&](int64_t group, int64_t piece) { normalize_piece(b, norm, x, other, y, group, piece); });
  if (epilogue == Epilogue::Relu) TensorHints::of(y).relu_output = true;
  const nn::FusedBatchNorm result{y, channel_tensor(norm.mean, channels, x.device()),
                                  channel_tensor(variances, channels, x.device()), b.rows() > 0};
  const NormCall call{x,    residual ? y : Tensor(),           norm, bool(residual),
                      true, TensorHints::of(input).relu_output};
  const Tensor inputs[] = {input, scale, offset, residual};
  const Tensor outputs[] = {y, result.batch_mean, result.batch_variance};
  record("fused_batch_norm", inputs, outputs, [call](const Backward& backward) {
    const NormGradients g = gradients_of(call, backward, 3);
    const auto scale_gradient = [&](size_t c) { return call.norm.rstd[c] * g.product[c]; };
    return final_gradients(
        "fused_batch_norm gradient", {call.x, first_of(backward.gradient_parts(0))},
        {g.dx, channel_gradient(backward.needs(1), call.x, scale_gradient),
         channel_gradient(backward.needs(2), call.x, [&](size_t c) { return g.sum[c]; }),
         g.residual});
  });
  return result;
}

/// Computes moments over all axes but the last, [channels].
DISTRIBUTE_INLINE nn::Moments channel_moments(const Tensor& input) {
  const Tensor x = with_channel_block(input);
  const ChannelBlock b = channel_block(x);
  const int64_t channels = x.shape()[-1];
  ChannelNorm norm = make_channel_norm(x, b, {}, {}, Epilogue::None);
  std::vector<float> variances(size_t(b.channels), 0.0f);
  channel_statistics(
      x, b,
      [&](size_t c, float mean, float variance) {
        norm.mean[c] = mean;
        variances[c] = variance;
      },
      [](int64_t, int64_t) {});
  const Tensor outputs[] = {channel_tensor(norm.mean, channels, x.device()),
                            channel_tensor(variances, channels, x.device())};
  record("moments", std::span(&input, 1), outputs, [=](const Backward& backward) {
    const NormGradientInputs in{.dmean = backward.gradient(0),
                                .dvariance = backward.gradient(1),
                                .through_statistics = true};
    return final_gradients("moments gradient", {x}, {norm_gradients(x, norm, in).dx});
  });
  return {outputs[0], outputs[1]};
}

/// True when `axes` names every axis of the shape but the last.
DISTRIBUTE_INLINE bool all_but_last(const Shape& shape, std::span<const int> axes) {
  std::vector<bool> named(size_t(shape.rank()), false);
  for (int axis : axes) named[size_t(shape.normalize_axis(axis))] = true;
  return shape.rank() > 1 && !named.back() &&
         std::count(named.begin(), named.end(), true) == shape.rank() - 1;
}

}  // namespace ops_internal

namespace nn {

DISTRIBUTE_INLINE Tensor batch_normalization(const Tensor& x, const Tensor& mean,
                                             const Tensor& variance, const Tensor& offset,
                                             const Tensor& scale, float epsilon,
                                             Epilogue epilogue) {
  using namespace ops_internal;
  check_norm_input("batch_normalization", x);
  if (x.dtype() != DType::Float32)
    return cast(batch_normalization(as_float(x), as_float(mean), as_float(variance),
                                    as_float(offset), as_float(scale), epsilon, epilogue),
                x.dtype());
  if (on_gpu(x)) return normalize_by_parts(x, mean, variance, offset, scale, epsilon, epilogue);
  Tensor vectors[] = {mean, variance, offset, scale};
  for (Tensor& vector : vectors) {
    if (!vector) continue;
    vector = as_channels(vector, x.shape()[-1]);
    if (!vector) return normalize_by_parts(x, mean, variance, offset, scale, epsilon, epilogue);
  }
  const Tensor y =
      normalize_channels(x, vectors[0], vectors[1], vectors[2], vectors[3], epsilon, epilogue);
  return record_composite("batch_normalization", {x, mean, variance, offset, scale}, y, [&] {
    return OpAttributes{{"epsilon", double(epsilon)}, {"epilogue", int64_t(epilogue)}};
  });
}

DISTRIBUTE_INLINE FusedBatchNorm fused_batch_norm(const Tensor& x, const Tensor& scale,
                                                  const Tensor& offset,
                                                  const FusedBatchNormOptions& options) {
  using namespace ops_internal;
  check_norm_input("fused_batch_norm", x);
  check_residual(x, options.residual);
  check_channels("scale", x, scale);
  check_channels("offset", x, offset);
  if (options.training && options.sum_over_replicas)
    return normalize_over_replicas(x, as_float(scale), as_float(offset), options);
  if (options.training && on_gpu(x))
    if (auto done = cudnn_normalize(x, as_float(scale), as_float(offset), options)) return *done;
  const bool direct = x.dtype() != DType::Float16 && !on_gpu(x);
  const auto wide = [&](const Tensor& t) { return direct ? t : as_float(t); };
  const Tensor input = wide(x), factor = as_float(scale), shift = as_float(offset);
  FusedBatchNorm result;
  if (options.training) {
    const auto run = on_gpu(input) ? normalize_batch_by_parts : normalize_batch;
    result =
        run(input, factor, shift, float(options.epsilon), options.epilogue, wide(options.residual));
  } else {
    if (!options.mean || !options.variance)
      throw InvalidArgumentError("fused_batch_norm: inference needs a mean and a variance");
    check_channels("mean", x, options.mean);
    check_channels("variance", x, options.variance);
    const auto run = on_gpu(input) ? normalize_by_parts : normalize_channels;
    result = {run(input, as_float(options.mean), as_float(options.variance), shift, factor,
                  float(options.epsilon), options.epilogue, wide(options.residual)),
              options.mean, options.variance, false};
  }
  result.y = cast(result.y, x.dtype());
  if (options.training) return result;
  record_composite(
      "fused_batch_norm", {x, scale, offset, options.mean, options.variance, options.residual},
      result.y, [&] {
        return OpAttributes{{"epsilon", options.epsilon}, {"epilogue", int64_t(options.epilogue)}};
      });
  return result;
}

DISTRIBUTE_INLINE Moments moments(const Tensor& x, std::span<const int> axes, bool keepdims) {
  using namespace ops_internal;
  check_norm_input("moments", x);
  if (axes.empty() && x.shape().rank())
    throw InvalidArgumentError("moments: no axes; name those to take the mean over");
  Moments result;
  const Tensor input = as_float(x);
  // While a trace is active, only operations that files can store are used.
  if (x.num_elements() && all_but_last(x.shape(), axes) && !on_gpu(x) &&
      !autograd_internal::is_tracing()) {
    result = channel_moments(input);
    Shape shape = keepdims ? x.shape() : Shape{x.shape()[-1]};
    for (int i = 0; i + 1 < shape.rank(); ++i) shape = shape.with(i, 1);
    if (keepdims) result = {reshape(result.mean, shape), reshape(result.variance, shape)};
  } else {
    const std::vector<int> list(axes.begin(), axes.end());
    const Tensor mean = reduce_mean(input, list, true);
    result.variance = reduce_mean(squared_difference(input, mean), list, keepdims);
    result.mean = keepdims ? mean : reshape(mean, result.variance.shape());
  }
  return {cast(result.mean, x.dtype()), cast(result.variance, x.dtype())};
}

}  // namespace nn

}  // namespace distribute
