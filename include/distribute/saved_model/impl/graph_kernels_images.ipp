#pragma once
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/saved_model/detail/graph_kernels.hpp>

#include <algorithm>

namespace distribute::saved_model_internal {

/// The two numbers for height and width of an attribute of four axes.
DISTRIBUTE_INLINE std::array<int64_t, 2> image_axes(const KernelCall& c, const char* key) {
  const std::vector<int64_t> all = c.list(key);
  if (all.empty()) return {1, 1};
  if (all.size() != 4 || all[0] != 1 || all[3] != 1)
    c.refuse(std::string(key) + " of batch or channels are not 1");
  return {all[1], all[2]};
}

/// Sets the options that windows of convolutions and pools have in common.
template <typename Options>
DISTRIBUTE_INLINE void read_window(const KernelCall& c, Options& options) {
  if (c.text_or("data_format", "NHWC") != "NHWC")
    c.refuse("data_format is not NHWC, which is all that there is here");
  options.strides = image_axes(c, "strides");
  const std::string padding = c.text_or("padding", "VALID");
  options.padding = padding == "SAME"       ? Padding::Same
                    : padding == "EXPLICIT" ? Padding::Explicit
                                            : Padding::Valid;
  if (options.padding != Padding::Explicit) return;
  const std::vector<int64_t> edges = c.list("explicit_paddings");
  if (edges.size() != 8) c.refuse("explicit_paddings are not those of four axes");
  std::copy_n(edges.begin() + 2, 4, options.explicit_paddings.begin());
}

DISTRIBUTE_INLINE std::vector<GraphValue> convolve(const KernelCall& c, bool depthwise) {
  const Tensor &x = c.tensor(0), &filters = c.tensor(1);
  nn::Conv2DOptions options;
  read_window(c, options);
  options.dilations = image_axes(c, "dilations");
  if (depthwise) return {nn::depthwise_conv2d(x, filters, options)};
  if (x.shape().rank() == 4 && filters.shape().rank() == 4 && filters.shape()[2] > 0)
    options.groups = std::max<int64_t>(1, x.shape()[3] / filters.shape()[2]);
  return {nn::conv2d(x, filters, options)};
}

/// Sizes are those of the result, with or without batch and channels.
DISTRIBUTE_INLINE std::vector<GraphValue> convolve_back(const KernelCall& c) {
  const Tensor &filters = c.tensor(1), &dy = c.tensor(2);
  nn::Conv2DOptions options;
  read_window(c, options);
  options.dilations = image_axes(c, "dilations");
  const Tensor sizes = cast(c.tensor(0), DType::Int64);
  const auto given = sizes.data<int64_t>();
  if (given.size() != 2 && given.size() != 4) c.refuse("its sizes are neither 2 nor 4 numbers");
  if (filters.shape().rank() != 4 || dy.shape().rank() != 4) c.refuse("it is not of images");
  const size_t first = given.size() == 4 ? 1 : 0;
  const Shape result{dy.shape()[0], given[first], given[first + 1], filters.shape()[2]};
  return {nn::conv2d_backprop_input(result, filters, dy, options)};
}

template <typename Pool>
DISTRIBUTE_INLINE Kernel pool_kernel(Pool pool) {
  return [pool](const KernelCall& c) {
    nn::PoolOptions options;
    read_window(c, options);
    options.ksize = image_axes(c, "ksize");
    return std::vector<GraphValue>{pool(c.tensor(0), options)};
  };
}

DISTRIBUTE_INLINE std::vector<GraphValue> normalize_batch(const KernelCall& c) {
  if (c.flag_or("is_training", true)) c.refuse("it is in training, which is not run here");
  if (c.text_or("data_format", "NHWC") != "NHWC") c.refuse("data_format is not NHWC");
  const nn::FusedBatchNorm result =
      nn::fused_batch_norm(c.tensor(0), c.tensor(1), c.tensor(2),
                           {.epsilon = double(c.real_or("epsilon", 1e-4f)),
                            .training = false,
                            .mean = c.tensor(3),
                            .variance = c.tensor(4)});
  return {result.y, c.tensor(3), c.tensor(4)};
}

DISTRIBUTE_INLINE const Kernels& image_kernels() {
  static const Kernels kernels = {
      {"Conv2D", [](const KernelCall& c) { return convolve(c, false); }},
      {"DepthwiseConv2dNative", [](const KernelCall& c) { return convolve(c, true); }},
      {"Conv2DBackpropInput", convolve_back},
      {"MaxPool", pool_kernel(nn::max_pool2d)},
      {"AvgPool", pool_kernel(nn::avg_pool2d)},
      {"FusedBatchNormV3", normalize_batch}};
  return kernels;
}

}  // namespace distribute::saved_model_internal
