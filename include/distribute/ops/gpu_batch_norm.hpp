#pragma once
/// The training form of batch normalization on GPUs by one fused kernel of cuDNN.

#include <distribute/base/config.hpp>
#include <distribute/ops/batch_norm.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>

namespace distribute::ops_internal {

/// What nn::fused_batch_norm gives for a training step of x on a GPU, in x's dtype; statistics are
/// float32, and no gradient flows through them. Nothing where cuDNN is missing or has no engine for
/// the shape, and for an empty batch.
std::optional<nn::FusedBatchNorm> gpu_batch_norm(const Tensor& x, const Tensor& scale,
                                                 const Tensor& offset, float epsilon,
                                                 Epilogue epilogue);

}  // namespace distribute::ops_internal

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/ops/impl/gpu_batch_norm.ipp>
#endif
