#pragma once
/// Batch normalization of one replica's rows in passes; between the passes sums go over all
/// replicas.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/config.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/tensor/tensor.hpp>

#include <memory>

namespace distribute::ops_internal {

/// The passes over x, in the order in which they are called; the last two are called once for each
/// walk of a tape. The sums have the same meaning on every device, so replicas may compute on
/// different ones. Nothing is recorded. Used by one replica's thread.
class NormPasses {
 public:
  virtual ~NormPasses() = default;
  /// Gives sums as TensorHints::channel_sums describes.
  virtual Tensor sums() = 0;
  /// Normalizes with the sums of all replicas. mean and variance are float32 [channels].
  virtual nn::FusedBatchNorm normalize(const Tensor& totals) = 0;
  /// Sums g and g * (x - mean) over each channel, float32 [2 channels]. g is dy where the ReLU let
  /// the value through, else 0.
  virtual Tensor gradient_sums(const Backward& backward) = 0;
  struct Gradients {
    Tensor dx, dscale, doffset, dresidual;
  };
  virtual Gradients gradients(const Tensor& totals) = 0;
};

/// The inputs of the passes, all on one device and not followed by tapes.
struct NormPassesInputs {
  Tensor x, scale, offset, residual;  // the last three may be empty
  double epsilon = 1e-3;
  Epilogue epilogue = Epilogue::None;
};

/// Does what fused_batch_norm() does in a training step over all replicas' rows. Tapes follow it.
nn::FusedBatchNorm normalize_over_replicas(const Tensor& x, const Tensor& scale,
                                           const Tensor& offset,
                                           const nn::FusedBatchNormOptions& options);

/// Makes the passes of cuDNN if it has all of them, else elementwise operations in float32.
std::unique_ptr<NormPasses> make_gpu_norm_passes(const NormPassesInputs& in);

}  // namespace distribute::ops_internal
