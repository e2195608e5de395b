#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/detail/log_once.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_backend.hpp>
#include <distribute/device/detail/cuda_dnn_norm_passes.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/gpu_batch_norm.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace distribute::ops_internal {

/// What the gradient needs of the forward pass.
struct CudnnNormCall {
  CudnnNormShape shape;
  Tensor input;     // input of the recorded operation
  Tensor x, scale;  // as cuDNN reads them
  CudnnNormForward forward;
  Tensor mean;  // mean of the batch
};

DISTRIBUTE_INLINE Array cudnn_array(const Tensor& t) {
  return cuda_aligned(t.array(), t.num_elements() * size_of(t.dtype()));
}

DISTRIBUTE_INLINE CudnnNormShape cudnn_norm_shape(const Tensor& x, Epilogue epilogue) {
  const Shape& shape = x.shape();
  CudnnNormShape s{.dtype = x.dtype(), .channels = shape[-1]};
  const bool is_image = shape.rank() == 4;
  s.batch = is_image ? shape[0] : shape.num_elements() / std::max<int64_t>(s.channels, 1);
  if (is_image) s.height = shape[1], s.width = shape[2];
  s.relu = epilogue == Epilogue::Relu;
  return s;
}

DISTRIBUTE_INLINE void tell_slow_batch_norm(const UnimplementedError& error) {
  log_internal::log_once(LogSeverity::Warning, "ops", "slow batch normalization",
                         str_cat("slow kernels are used for batch normalization: ", error.what()));
}

/// Adds to the gradient of x what the gradients of the statistics contribute.
DISTRIBUTE_INLINE Tensor through_statistics(const CudnnNormCall& call, const Backward& backward) {
  const float rows = float(call.x.num_elements() / call.shape.channels);
  Tensor dx = fill(call.x.shape(), 0, DType::Float32, call.x.device());
  if (const Tensor& dmean = backward.gradient(1)) dx = dx + dmean / rows;
  if (const Tensor& dvariance = backward.gradient(2))
    dx = dx + (cast(call.x, DType::Float32) - call.mean) * (dvariance * (2 / rows));
  return cast(dx, call.x.dtype());
}

/// Gives the gradients of x, scale, offset and residual.
DISTRIBUTE_INLINE std::vector<Tensor> cudnn_norm_gradients(const CudnnNormCall& call,
                                                           const Backward& backward) {
  const Device device = call.x.device();
  const Shape channels{call.shape.channels};
  Tensor dx, dscale, dbias, dresidual;
  const auto part = [&](const Tensor& t) {
    return cudnn_array(brought_to(cast(t, call.x.dtype()), device));
  };
  if (!backward.gradient_parts(0).empty()) {
    // The two gradients that meet after a residual block are added while they are read.
    const bool adds =
        backward.gradient_parts(0).size() == 2 && cudnn_batch_norm_adds(call.shape, device);
    const Array dy = part(adds ? backward.gradient_parts(0)[0] : backward.gradient(0));
    const Array more = adds ? part(backward.gradient_parts(0)[1]) : Array{};
    const CudnnNormBackward g =
        cudnn_batch_norm_backward(call.shape, cudnn_array(call.x), dy, cudnn_array(call.scale),
                                  call.forward, adds ? &more : nullptr);
    dx = Tensor(call.x.shape(), call.x.dtype(), g.dx);
    dscale = Tensor(channels, DType::Float32, g.dscale);
    dbias = Tensor(channels, DType::Float32, g.dbias);
    if (call.shape.residual) dresidual = Tensor(call.x.shape(), call.x.dtype(), g.gated_dy);
  }
  if (backward.gradient(1) || backward.gradient(2)) {
    const Tensor more = through_statistics(call, backward);
    dx = dx ? dx + more : more;
  }
  const Tensor wanted[] = {dx, dscale, dbias, dresidual};
  std::vector<Tensor> gradients(4);
  for (size_t i = 0; i < 4; ++i)
    if (backward.needs(i)) gradients[i] = wanted[i];
  return gradients;
}

/// Normalizes with the sums that the operation before has computed. Gives the variance; empty when
/// there are no sums or no kernels.
DISTRIBUTE_INLINE Tensor normalize_from_sums(CudnnNormCall& call, const Tensor& bias,
                                             const Array& residual, double epsilon) {
  const Tensor sums = TensorHints::of(call.input).channel_sums;
  if (!sums) return {};
  try {
    require_cudnn_norm_passes(call.shape, call.x.device(), CudnnNormWayBack::Whole);
  } catch (const UnimplementedError& error) {
    log_internal::log_once(
        LogSeverity::Info, "ops", "sums of convolutions",
        str_cat("normalizations sum what convolutions have summed: ", error.what()));
    return {};
  }
  const NormVectors vectors = gpu_norm_vectors(sums, call.scale, bias, epsilon);
  call.forward =
      cudnn_scale_channels(call.shape, cudnn_array(call.x), vectors.factor.array(),
                           vectors.shift.array(), call.shape.residual ? &residual : nullptr);
  call.forward.mean = vectors.mean.array();
  call.forward.inverse_deviation = vectors.inverse_deviation.array();
  return vectors.variance;
}

DISTRIBUTE_INLINE nn::FusedBatchNorm run_cudnn_norm(const Tensor& x, const Tensor& scale,
                                                    const Tensor& offset,
                                                    const nn::FusedBatchNormOptions& options) {
  const Device device = x.device();
  CudnnNormShape s = cudnn_norm_shape(x, options.epilogue);
  s.residual = bool(options.residual);
  const Shape channels{s.channels};
  const auto vector = [&](const Tensor& given, double otherwise) {
    return given ? brought_to(given, device) : fill(channels, otherwise, DType::Float32, device);
  };
  CudnnNormCall call{s, x, brought_to(x, device), vector(scale, 1), {}, {}};
  const Tensor bias = vector(offset, 0), residual = brought_to(options.residual, device);
  const Array added = residual ? cudnn_array(residual) : Array{};
  Tensor variance = normalize_from_sums(call, bias, added, options.epsilon);
  if (!variance) {
    call.forward =
        cudnn_batch_norm(s, cudnn_array(call.x), cudnn_array(call.scale), cudnn_array(bias),
                         float(options.epsilon), residual ? &added : nullptr);
    const Tensor deviation(channels, DType::Float32, call.forward.inverse_deviation);
    variance = gpu_norm_variance(deviation, options.epsilon);
  }
  call.mean = Tensor(channels, DType::Float32, call.forward.mean);
  const nn::FusedBatchNorm result{Tensor(x.shape(), x.dtype(), call.forward.y), call.mean.renamed(),
                                  variance, true};
  const Tensor inputs[] = {x, scale, offset, options.residual};
  const Tensor outputs[] = {result.y, result.batch_mean, result.batch_variance};
  record("fused_batch_norm", inputs, outputs, [call](const Backward& backward) {
    std::vector<Tensor> gradients = cudnn_norm_gradients(call, backward);
    const auto parts = backward.gradient_parts(0);
    const auto dy = [&](size_t i) { return i < parts.size() ? parts[i] : Tensor(); };
    return final_gradients("fused_batch_norm gradient", {call.input, dy(0), dy(1)},
                           std::move(gradients));
  });
  return result;
}

DISTRIBUTE_INLINE std::optional<nn::FusedBatchNorm> cudnn_normalize(
    const Tensor& x, const Tensor& scale, const Tensor& offset,
    const nn::FusedBatchNormOptions& options) {
  const bool lone_residual = options.residual && options.epilogue != Epilogue::Relu;
  if (!cudnn_problem().empty() || lone_residual || x.num_elements() == 0) return std::nullopt;
  try {
    return run_cudnn_norm(x, scale, offset, options);
  } catch (const UnimplementedError& error) {
    tell_slow_batch_norm(error);
    return std::nullopt;
  }
}

}  // namespace distribute::ops_internal
