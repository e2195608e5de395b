#pragma once
/// Convolution over one, two or three axes.

#include <distribute/base/config.hpp>
#include <distribute/ops/convolution.hpp>

#include <cstdint>
#include <vector>

namespace distribute::nn::nn_internal {

struct ConvolveOptions {  // options of convolve(); a number for each axis
  std::vector<int64_t> strides, dilations;
  Padding padding = Padding::Valid;  // Valid or Same
  int64_t groups = 1;
};

/// Convolves; over three axes it is a sum of conv2d() over the kernel's depth.
/// Shapes  x [batch, sizes..., channels], kernel [sizes..., channels / groups, filters] -> [batch,
///          sizes..., filters].
Tensor convolve(const Tensor& x, const Tensor& kernel, const ConvolveOptions& options);

/// Returns [batch * depth, height, width, channels] as [batch, depth, height, width, channels].
Tensor volume_of(const Tensor& slices, int64_t batch, int64_t depth);
/// Returns the part of a kernel at one depth.
Tensor kernel_at(const Tensor& kernel, int64_t depth);

}  // namespace distribute::nn::nn_internal
