#pragma once
/// What batch normalization computes channel by channel, forwards and backwards; nothing recorded.

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

/// Per channel (padding included): y = max((x - mean) * factor + offset + residual, floor).
struct ChannelNorm {
  std::vector<float> mean, rstd, scale, factor, offset;
  float floor = kNoFloor;
};

/// Without mean and rstd yet; `scale` none: 1, `offset` none: 0.
ChannelNorm make_channel_norm(const Tensor& x, const ChannelBlock& b, const Tensor& scale,
                              const Tensor& offset, Epilogue epilogue);
void set_channel(ChannelNorm& norm, size_t channel, float mean, float variance, float epsilon);

/// The first `channels` values as a tensor.
Tensor channel_tensor(const std::vector<float>& values, int64_t channels, Device device);

/// Finds each channel's mean and variance; calls ready(channel, mean, variance) once its group is
/// summed, then apply(group, piece) for the group's pieces. Sums are of differences from the
/// channel's first value.
using ChannelReady = std::function<void(size_t channel, float mean, float variance)>;
void channel_statistics(const Tensor& x, const ChannelBlock& b, const ChannelReady& ready,
                        const std::function<void(int64_t group, int64_t piece)>& apply);
/// y of one piece; `residual` none or in the layout of x.
void normalize_piece(const ChannelBlock& b, const ChannelNorm& norm, const Tensor& x,
                     const Tensor& residual, const Tensor& y, int64_t group, int64_t piece);

/// What a gradient of normalization is made from; none: that output has no gradient.
struct NormGradientInputs {
  std::span<const Tensor> dy = {};  // the gradient is their sum; empty: there is none
  Tensor dmean = {}, dvariance = {};
  Tensor y = {};                    // the result, where a residual decides on the ReLU as well
  bool through_statistics = false;  // mean and variance came from x itself
  bool want_dx = true, want_residual = false, gate_x = false;
};

struct NormGradients {
  Tensor dx;
  Tensor residual;                  // dy behind the ReLU
  std::vector<float> sum, product;  // per channel: sum of dy, sum of dy * (x - mean)
};

/// x as with_channel_block gives it, in float32 or bfloat16, and everything else in its dtype.
/// Gradients that are not shared are overwritten by the results.
NormGradients norm_gradients(const Tensor& x, const ChannelNorm& norm,
                             const NormGradientInputs& in);

/// The tensors that a gradient reads and writes, all in the layout of x.
struct GradientPass {
  Tensor x, dy, dy2, y;  // dy: x where there is no gradient, its factor is 0 then
  Tensor g, dx;          // none: not kept, not wanted
};

/// norm_gradients() through statistics in two passes, between which the sums may be added to those
/// of other replicas. The norm must outlive it.
class NormGradientPasses {
 public:
  /// Sums; in.dy, in.dmean and in.dvariance: dy alone, at least one part.
  NormGradientPasses(const Tensor& x, const ChannelNorm& norm, const NormGradientInputs& in);
  const std::vector<float>& sum() const { return sum_; }
  const std::vector<float>& product() const { return product_; }
  /// The gradients of x and of the residual, with the sums over `rows` rows.
  NormGradients finish(const std::vector<float>& sum, const std::vector<float>& product,
                       double rows) const;

 private:
  const ChannelNorm& norm_;
  GradientPass pass_;
  Tensor residual_;
  std::vector<float> sum_, product_;
};

}  // namespace distribute::ops_internal
