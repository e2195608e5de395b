#pragma once
/// What batch normalization computes channel by channel, forwards and backwards; nothing recorded.

#include <distribute/base/config.hpp>
#include <distribute/device/backend.hpp>
#include <distribute/ops/channel_block.hpp>
#include <distribute/tensor/tensor.hpp>

#include <limits>
#include <utility>
#include <vector>

namespace distribute::ops_internal {

inline constexpr float kNoFloor = -std::numeric_limits<float>::infinity();

/// Per channel (padding included): y = max((x - mean) * factor + offset, floor).
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

/// The sum pass of mean and variance: differences from each channel's first value.
void sum_moments(const ChannelBlock& b, const float* x, int64_t group, int64_t piece,
                 LaneSums<float>& sums);
/// Mean and variance of channel `lane` of a group from its sums.
std::pair<float, float> moments_of(const ChannelBlock& b, const float* x, int64_t group,
                                   int64_t lane, const LaneSums<double>& sums);
void normalize_piece(const ChannelBlock& b, const ChannelNorm& norm, const float* x, float* y,
                     int64_t group, int64_t piece);

/// What a gradient of normalization is made from; none: that output has no gradient.
struct NormGradientInputs {
  Tensor dy, dmean, dvariance;
  bool through_statistics = false;  // mean and variance came from x itself
  bool want_dx = true, gate_x = false;
};

struct NormGradients {
  Tensor dx;
  std::vector<float> sum, product;  // per channel: sum of dy, sum of dy * (x - mean)
};

/// x as with_channel_block gives it. Where the norm has a ReLU, its gate is made again from x.
NormGradients norm_gradients(const Tensor& x, const ChannelNorm& norm,
                             const NormGradientInputs& in);

}  // namespace distribute::ops_internal

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/ops/impl/channel_norm.ipp>
#endif
