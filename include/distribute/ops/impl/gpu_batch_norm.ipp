#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/device/cuda_dnn_operations.hpp>
#include <distribute/ops/cast.hpp>
#include <distribute/ops/elementwise.hpp>
#include <distribute/ops/gpu_batch_norm.hpp>
#include <distribute/ops/gpu_loops.hpp>

#include <memory>
#include <vector>

namespace distribute::ops_internal {

/// What the backward pass needs of the forward one.
struct GpuNorm {
  CudnnNormShape shape;
  Tensor x, scale;
  CudnnNormForward forward;
};

DISTRIBUTE_INLINE Tensor gpu_vector(const Tensor& vector, float otherwise, int64_t channels,
                                    Device device) {
  if (!vector) return fill({channels}, otherwise, DType::Float32, device);
  return converted(brought_to(vector, device), DType::Float32);
}

DISTRIBUTE_INLINE std::vector<Tensor> gpu_batch_norm_gradients(const GpuNorm& norm,
                                                               const Tensor& dy,
                                                               const std::vector<Tensor>& inputs) {
  const Tensor& x = norm.x;
  const Tensor gradient = converted(brought_to(dy, x.device()), x.dtype());
  CudnnNormBackward back = cudnn_batch_norm_backward(norm.shape, x.array(), gradient.array(),
                                                     norm.scale.array(), norm.forward);
  const auto vector = [&](const Tensor& input, Array array) {
    if (!input) return Tensor();
    return converted(Tensor(norm.scale.shape(), DType::Float32, std::move(array)), input.dtype());
  };
  const std::vector<Tensor> gradients{Tensor(x.shape(), x.dtype(), std::move(back.dx)),
                                      vector(inputs[1], std::move(back.dscale)),
                                      vector(inputs[2], std::move(back.dbias))};
  record("fused_batch_norm_grad", std::span(&dy, 1), gradients,
         no_gradient("the gradient of fused_batch_norm on a GPU"));
  return gradients;
}

DISTRIBUTE_INLINE std::optional<nn::FusedBatchNorm> gpu_batch_norm(
    const Tensor& x, const Tensor& scale, const Tensor& offset, float epsilon, Epilogue epilogue) {
  const int64_t channels = x.shape()[-1];
  if (x.num_elements() == 0 || !cudnn_problem().empty()) return std::nullopt;
  const auto norm = std::make_shared<GpuNorm>();
  norm->shape = {.dtype = x.dtype(),
                 .batch = x.shape()[0],
                 .channels = channels,
                 .height = x.num_elements() / channels / x.shape()[0],
                 .width = 1,
                 .relu = epilogue == Epilogue::Relu,
                 .residual = false};
  norm->x = x.row_major();
  norm->scale = gpu_vector(scale, 1.0f, channels, x.device());
  const Tensor shift = gpu_vector(offset, 0.0f, channels, x.device());
  try {
    norm->forward = cudnn_batch_norm(norm->shape, norm->x.array(), norm->scale.array(),
                                     shift.array(), epsilon, nullptr);
  } catch (const UnimplementedError&) {
    return std::nullopt;
  }
  const Tensor deviation({channels}, DType::Float32, norm->forward.inverse_deviation);
  const Tensor one = fill({channels}, 1.0f, DType::Float32, x.device());
  nn::FusedBatchNorm result{Tensor(x.shape(), x.dtype(), norm->forward.y),
                            Tensor({channels}, DType::Float32, norm->forward.mean),
                            maximum(one / (deviation * deviation) - epsilon, Tensor(0.0f)), true};
  const std::vector<Tensor> inputs{x, scale, offset};
  record("fused_batch_norm", inputs, std::span(&result.y, 1), [=](const Backward& backward) {
    return gpu_batch_norm_gradients(*norm, backward.gradient(), inputs);
  });
  return result;
}

}  // namespace distribute::ops_internal
