#pragma once
/// Batch normalization of a training step on a GPU's cuDNN.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>

namespace distribute::nn {
struct FusedBatchNorm;  // batch_norm.hpp, whose bodies need this header
struct FusedBatchNormOptions;
}  // namespace distribute::nn

namespace distribute::ops_internal {

/// fused_batch_norm of a training step, recorded; x is on a GPU, scale and offset are float32 or
/// none. Nothing where cuDNN is missing or has no kernel for it: a residual without ReLU, an empty
/// batch, a number of channels that it does not take.
std::optional<nn::FusedBatchNorm> cudnn_normalize(const Tensor& x, const Tensor& scale,
                                                  const Tensor& offset,
                                                  const nn::FusedBatchNormOptions& options);

}  // namespace distribute::ops_internal
