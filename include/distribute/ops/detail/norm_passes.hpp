#pragma once
/// Batch normalization of one replica's rows in passes, between which sums go over all replicas.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/config.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/tensor/tensor.hpp>

#include <memory>

namespace distribute::ops_internal {

/// The passes over x, in the order in which they are called; the last two once for each walk of a
/// tape. What is summed is the same on every device, so replicas may compute differently. Nothing
/// is recorded. One replica's thread.
class NormPasses {
 public:
  virtual ~NormPasses() = default;
  /// As Tensor::channel_sums().
  virtual Tensor sums() = 0;
  /// mean and variance are float32 [channels].
  virtual nn::FusedBatchNorm normalize(const Tensor& totals) = 0;
  /// g is dy behind the gate: float32 [2 channels], the sums of g and of g * (x - mean).
  virtual Tensor gradient_sums(const Backward& backward) = 0;
  struct Gradients {
    Tensor dx, dscale, doffset, dresidual;
  };
  virtual Gradients gradients(const Tensor& totals) = 0;
};

/// What the passes are made of: everything on one device and cut off from tapes.
struct NormPassesInputs {
  Tensor x, scale, offset, residual;  // the last three may be none
  double epsilon = 1e-3;
  Epilogue epilogue = Epilogue::None;
};

/// fused_batch_norm of a training step over all replicas' rows, recorded.
nn::FusedBatchNorm normalize_over_replicas(const Tensor& x, const Tensor& scale,
                                           const Tensor& offset,
                                           const nn::FusedBatchNormOptions& options);

}  // namespace distribute::ops_internal
