#pragma once
#include <distribute/device/dtype.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/saved_model/detail/lower_images.hpp>

#include <algorithm>

namespace distribute::saved_model_internal {

/// Paddings of all four axes where they are explicit.
DISTRIBUTE_INLINE std::string window_padding(int64_t padding, const std::vector<int64_t>& edges,
                                             saved_model::GraphAttributes& attributes) {
  if (Padding(padding) == Padding::Same) return "SAME";
  if (Padding(padding) == Padding::Valid || edges == std::vector<int64_t>(4, 0)) return "VALID";
  attributes["explicit_paddings"] =
      std::vector<int64_t>{0, 0, edges[0], edges[1], edges[2], edges[3], 0, 0};
  return "EXPLICIT";
}

DISTRIBUTE_INLINE int lower_convolution(GraphBuilder& b, bool depthwise) {
  const Sizes &strides = b.list("strides"), &dilations = b.list("dilations");
  GraphBuilder::Attributes attributes{{"strides", Sizes{1, strides[0], strides[1], 1}}};
  attributes["padding"] =
      window_padding(b.integer("padding"), b.list("explicit_paddings"), attributes);
  if (dilations != Sizes{1, 1}) attributes["dilations"] = Sizes{1, dilations[0], dilations[1], 1};
  std::vector<int> inputs{b.in(0), b.in(1)};
  // TensorFlow's depthwise kernels take equal strides and no holes; grouped ones take everything.
  const bool simple = strides[0] == strides[1] && dilations == Sizes{1, 1};
  if (depthwise && !simple) {
    const Sizes f = b.node(b.in(1)).shape;
    inputs[1] = b.reshape(b.in(1), {f[0], f[1], 1, f[2] * f[3]});
  }
  if (b.has(2)) inputs.push_back(b.in(2));
  return b.with_epilogue(b.add(depthwise && simple ? "DepthwiseConv2dNative" : "Conv2D", inputs,
                               b.op().shape, DType::Float32, attributes));
}

/// The gradient of a convolution by its input. Its sizes are given without batch and channels,
/// which TensorFlow takes from the operands.
DISTRIBUTE_INLINE int lower_transposed_convolution(GraphBuilder& b) {
  const Sizes &strides = b.list("strides"), &dilations = b.list("dilations"), &y = b.op().shape;
  GraphBuilder::Attributes attributes{
      {"strides", Sizes{1, strides[0], strides[1], 1}},
      {"padding", std::string(Padding(b.integer("padding")) == Padding::Same ? "SAME" : "VALID")}};
  if (dilations != Sizes{1, 1}) attributes["dilations"] = Sizes{1, dilations[0], dilations[1], 1};
  const int sizes =
      b.constant(Tensor(Shape{2}, std::vector<int32_t>{int32_t(y[1]), int32_t(y[2])}));
  const int result =
      b.add("Conv2DBackpropInput", {sizes, b.in(1), b.in(0)}, y, DType::Float32, attributes);
  return b.has(2) ? b.binary("AddV2", result, b.in(2)) : result;
}

DISTRIBUTE_INLINE int lower_pool(GraphBuilder& b, const char* op) {
  const Sizes &size = b.list("ksize"), &strides = b.list("strides");
  GraphBuilder::Attributes attributes{{"ksize", Sizes{1, size[0], size[1], 1}},
                                      {"strides", Sizes{1, strides[0], strides[1], 1}}};
  attributes["padding"] =
      window_padding(b.integer("padding"), b.list("explicit_paddings"), attributes);
  return b.add(op, {b.in(0)}, b.op().shape, DType::Float32, attributes);
}

/// TensorFlow's average has no explicit paddings: the mean with zeros around, divided by that of
/// ones with zeros around.
DISTRIBUTE_INLINE int lower_average_pool(GraphBuilder& b) {
  const Sizes edges = b.list("explicit_paddings");
  if (Padding(b.integer("padding")) != Padding::Explicit || edges == Sizes(4, 0))
    return lower_pool(b, "AvgPool");
  const Sizes &size = b.list("ksize"), &strides = b.list("strides"),
              in_shape = b.node(b.in(0)).shape;
  Sizes padded = in_shape;
  for (size_t a = 0; a < 2; ++a) padded[1 + a] += edges[2 * a] + edges[2 * a + 1];
  const int wide = b.add("PadV2", {b.in(0), b.number(0)}, padded, DType::Float32,
                         {{"paddings", Sizes{0, 0, edges[0], edges[1], edges[2], edges[3], 0, 0}}});
  const int mean = b.add("AvgPool", {wide}, b.op().shape, DType::Float32,
                         {{"ksize", Sizes{1, size[0], size[1], 1}},
                          {"strides", Sizes{1, strides[0], strides[1], 1}},
                          {"padding", std::string("VALID")}});
  std::vector<float> part;
  const auto inside = [&](size_t a, int64_t at) {
    const int64_t begin = at * strides[a] - edges[2 * a], end = begin + size[a];
    return std::min(end, in_shape[1 + a]) - std::max<int64_t>(begin, 0);
  };
  for (int64_t y = 0; y < b.op().shape[1]; ++y)
    for (int64_t x = 0; x < b.op().shape[2]; ++x)
      part.push_back(float(inside(0, y) * inside(1, x)) / float(size[0] * size[1]));
  return b.binary("RealDiv", mean,
                  b.constant(Tensor({1, b.op().shape[1], b.op().shape[2], 1}, part)));
}

DISTRIBUTE_INLINE int batch_norm_formula(GraphBuilder& b, int x, int mean, int variance, int offset,
                                         int scale) {
  int factor = b.unary("Rsqrt", b.binary("AddV2", variance, b.number(b.real("epsilon"))));
  if (scale >= 0) factor = b.binary("Mul", factor, scale);
  int shift = b.unary("Neg", b.binary("Mul", mean, factor));
  if (offset >= 0) shift = b.binary("AddV2", offset, shift);
  return b.binary("AddV2", b.binary("Mul", x, factor), shift);
}

DISTRIBUTE_INLINE int lower_batch_norm(GraphBuilder& b) {
  const int offset = b.has(3) ? b.in(3) : -1, scale = b.has(4) ? b.in(4) : -1;
  return b.with_epilogue(batch_norm_formula(b, b.in(0), b.in(1), b.in(2), offset, scale));
}

/// Images in one node, as TensorFlow does; other ranks by the formula.
DISTRIBUTE_INLINE int lower_fused_batch_norm(GraphBuilder& b) {
  const int scale = b.has(1) ? b.in(1) : -1, offset = b.has(2) ? b.in(2) : -1;
  int y;
  if (b.rank(b.in(0)) == 4) {
    const Shape channels{b.op().shape.back()};
    const auto filled = [&](float value) {
      return b.constant(fill(channels, value, DType::Float32, Device{}));
    };
    y = b.add(
        "FusedBatchNormV3",
        {b.in(0), scale < 0 ? filled(1) : scale, offset < 0 ? filled(0) : offset, b.in(3), b.in(4)},
        b.op().shape, DType::Float32, {{"epsilon", b.real("epsilon")}, {"is_training", false}});
  } else {
    y = batch_norm_formula(b, b.in(0), b.in(3), b.in(4), offset, scale);
  }
  if (b.has(5)) y = b.binary("AddV2", y, b.in(5));
  return b.with_epilogue(y);
}

}  // namespace distribute::saved_model_internal
