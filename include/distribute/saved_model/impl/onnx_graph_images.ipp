#pragma once
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/saved_model/detail/onnx_graph.hpp>

#include <array>

namespace distribute::saved_model_internal {

/// [height, width, in, out] as [out, in, height, width]; depthwise ones have one input each.
DISTRIBUTE_INLINE std::string convolution_weights(OnnxBuilder& b) {
  constexpr size_t i = 1;  // the weights are the second input
  const OnnxBuilder::Node& of = b.input(i);
  const Sizes& f = of.shape;
  const bool depthwise = b.now().op == "DepthwiseConv2dNative";
  const Sizes shape = depthwise ? Sizes{f[0], f[1], 1, f[2] * f[3]} : Sizes{f[0], f[1], f[2], f[3]};
  const std::string name = of.name + (depthwise ? "/depthwise_oihw" : "/oihw");
  if (of.op == "Const")
    return b.initializer(name, transpose(of.value.view(Shape(std::span<const int64_t>(shape))),
                                         std::array<int, 4>{3, 2, 0, 1}));
  std::string from = b.plain(i);
  if (depthwise)
    from = b.emit("Reshape", {from, b.integers(b.now().name + "/shape", shape)},
                  b.now().name + "/hwio");
  return b.emit("Transpose", {from}, b.now().name + "/oihw",
                OnnxAttributes().list("perm", {3, 2, 0, 1}));
}

DISTRIBUTE_INLINE OnnxAttributes window_attributes(const OnnxBuilder& b, const Sizes& kernel) {
  const Sizes& strides = b.list("strides");
  const std::string& padding = std::get<std::string>(b.now().attributes.at("padding"));
  Sizes holes{1, 1}, pads(4, 0);  // pads: top, left, bottom, right
  if (b.now().attributes.contains("dilations"))
    holes = {b.list("dilations")[1], b.list("dilations")[2]};
  for (size_t a = 0; a < 2; ++a) {
    if (padding == "EXPLICIT") {
      pads[a] = b.list("explicit_paddings")[2 + 2 * a];
      pads[2 + a] = b.list("explicit_paddings")[3 + 2 * a];
    } else if (padding == "SAME") {
      const WindowAxis axis = window_axis("export_onnx", b.input(0).shape[1 + a], kernel[a],
                                          strides[1 + a], holes[a], Padding::Same, 0, 0);
      pads[a] = axis.pad_before;
      pads[2 + a] = axis.pad_after;
    }
  }
  OnnxAttributes attributes;
  attributes.list("kernel_shape", kernel).list("strides", {strides[1], strides[2]});
  attributes.list("pads", pads);
  if (holes != Sizes{1, 1}) attributes.list("dilations", holes);
  return attributes;
}

DISTRIBUTE_INLINE OnnxValue onnx_convolution(OnnxBuilder& b) {
  const Sizes& f = b.input(1).shape;
  const int64_t channels = b.input(0).shape[3];
  const int64_t groups = b.now().op == "DepthwiseConv2dNative" ? channels : channels / f[2];
  OnnxAttributes attributes = window_attributes(b, {f[0], f[1]});
  if (groups != 1) attributes.integer("group", groups);
  OnnxBuilder::Names inputs{b.channels_first(0), convolution_weights(b)};
  if (b.now().inputs.size() == 3) inputs.push_back(b.plain(2));
  return {.channels_first = b.emit("Conv", inputs, b.now().name, attributes)};
}

/// Filters [height, width, out, in] become [in, out, height, width] by the order of a
/// convolution's.
DISTRIBUTE_INLINE OnnxValue onnx_transposed_convolution(OnnxBuilder& b) {
  const Sizes &f = b.input(1).shape, &x = b.input(2).shape, &y = b.now().shape;
  const Sizes& strides = b.list("strides");
  const bool same = std::get<std::string>(b.now().attributes.at("padding")) == "SAME";
  Sizes holes{1, 1}, pads(4, 0), more(2, 0);  // more: what the result has behind its last window
  if (b.now().attributes.contains("dilations"))
    holes = {b.list("dilations")[1], b.list("dilations")[2]};
  for (size_t a = 0; a < 2; ++a) {
    if (same) {
      const WindowAxis axis =
          window_axis("export_onnx", y[1 + a], f[a], strides[1 + a], holes[a], Padding::Same, 0, 0);
      pads[a] = axis.pad_before;
      pads[2 + a] = axis.pad_after;
    }
    const int64_t reach = (f[a] - 1) * holes[a] + 1;
    more[a] = y[1 + a] - ((x[1 + a] - 1) * strides[1 + a] + reach - pads[a] - pads[2 + a]);
  }
  OnnxAttributes attributes;
  attributes.list("kernel_shape", {f[0], f[1]}).list("strides", {strides[1], strides[2]});
  attributes.list("pads", pads).list("output_padding", more).list("dilations", holes);
  return {.channels_first = b.emit("ConvTranspose", {b.channels_first(2), convolution_weights(b)},
                                   b.now().name, attributes)};
}

DISTRIBUTE_INLINE OnnxValue onnx_pool(OnnxBuilder& b) {
  const Sizes& size = b.list("ksize");
  return {.channels_first =
              b.emit(b.now().op == "MaxPool" ? "MaxPool" : "AveragePool", {b.channels_first(0)},
                     b.now().name, window_attributes(b, {size[1], size[2]}))};
}

DISTRIBUTE_INLINE OnnxValue onnx_batch_norm(OnnxBuilder& b) {
  const float epsilon = b.real("epsilon");
  return {.channels_first =
              b.emit("BatchNormalization",
                     {b.channels_first(0), b.plain(1), b.plain(2), b.plain(3), b.plain(4)},
                     b.now().name, OnnxAttributes().real("epsilon", epsilon))};
}

}  // namespace distribute::saved_model_internal
