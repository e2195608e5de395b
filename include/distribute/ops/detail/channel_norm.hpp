#pragma once
/// The computations of batch normalization for each channel, forwards and backwards; tapes record
/// nothing.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/backend.hpp>
#include <distribute/ops/detail/channel_block.hpp>
#include <distribute/tensor/tensor.hpp>

#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace distribute::ops_internal {

inline constexpr float kNoFloor = -std::numeric_limits<float>::infinity();

/// Values for each channel (padding included): y = max((x - mean) * factor + offset + residual,
/// floor).
struct ChannelNorm {
  std::vector<float> mean, rstd, scale, factor, offset;
  float floor = kNoFloor;
};

/// Makes them without mean and rstd; an empty `scale` means 1, an empty `offset` 0.
ChannelNorm make_channel_norm(const Tensor& x, const ChannelBlock& b, const Tensor& scale,
                              const Tensor& offset, Epilogue epilogue);
void set_channel(ChannelNorm& norm, size_t channel, float mean, float variance, float epsilon);

/// Makes a tensor of the first `channels` values.
Tensor channel_tensor(const std::vector<float>& values, int64_t channels, Device device);

/// Finds each channel's mean and variance; calls ready(channel, mean, variance) once its group is
/// summed, then apply(group, piece) for the group's pieces. Sums are of differences from the
/// channel's first value.
using ChannelReady = std::function<void(size_t channel, float mean, float variance)>;
void channel_statistics(const Tensor& x, const ChannelBlock& b, const ChannelReady& ready,
                        const std::function<void(int64_t group, int64_t piece)>& apply);
/// Computes y of one piece; `residual` is empty or in the layout of x.
void normalize_piece(const ChannelBlock& b, const ChannelNorm& norm, const Tensor& x,
                     const Tensor& residual, const Tensor& y, int64_t group, int64_t piece);

/// What the gradient of a normalization is computed from; an empty tensor means that this output
/// has no gradient.
struct NormGradientInputs {
  std::span<const Tensor> dy = {};  // parts whose sum is the gradient; empty: there is none
  Tensor dmean = {}, dvariance = {};
  Tensor y = {};                    // the result, needed if a residual affects the ReLU
  bool through_statistics = false;  // true: mean and variance were computed from x
  bool want_dx = true, want_residual = false, gate_x = false;
};

struct NormGradients {
  Tensor dx;
  Tensor residual;                  // dy where the ReLU let the value through, else 0
  std::vector<float> sum, product;  // for each channel: sum of dy, sum of dy * (x - mean)
};

/// Computes the gradients. x must be as with_channel_block() gives it, in float32 or bfloat16;
/// everything else has its dtype. Gradients that are not shared are overwritten by the results.
NormGradients norm_gradients(const Tensor& x, const ChannelNorm& norm,
                             const NormGradientInputs& in);

/// The tensors that a gradient reads and writes, all in the layout of x.
struct GradientPass {
  Tensor x, dy, dy2, y;  // dy is x if there is no gradient; its factor is then 0
  Tensor g, dx;          // empty: not kept, not wanted
};

/// Does the work of norm_gradients() through statistics in two passes. Between them the sums may be
/// added to those of other replicas. The norm must outlive it.
class NormGradientPasses {
 public:
  /// Computes the sums. Of in.dy, in.dmean and in.dvariance only dy is allowed, with at least one
  /// part.
  NormGradientPasses(const Tensor& x, const ChannelNorm& norm, const NormGradientInputs& in);
  const std::vector<float>& sum() const { return sum_; }
  const std::vector<float>& product() const { return product_; }
  /// Gives the gradients of x and of the residual; the sums are taken over `rows` rows.
  NormGradients finish(const std::vector<float>& sum, const std::vector<float>& product,
                       double rows) const;

 private:
  const ChannelNorm& norm_;
  GradientPass pass_;
  Tensor residual_;
  std::vector<float> sum_, product_;
};

}  // namespace distribute::ops_internal
