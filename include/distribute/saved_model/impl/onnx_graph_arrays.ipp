#pragma once
#include <distribute/saved_model/detail/onnx_graph.hpp>

#include <limits>

namespace distribute::saved_model_internal {

/// Returns the position in NCHW of an axis of an NHWC image.
DISTRIBUTE_INLINE int64_t channels_first_axis(int64_t axis) {
  return axis == 0 ? 0 : axis == 3 ? 1 : axis + 1;
}

DISTRIBUTE_INLINE OnnxValue onnx_reduction(OnnxBuilder& b) {
  Sizes axes = b.list("axes");
  const bool kept = b.flag("keep_dims"), inner = axes == Sizes{1, 2};
  const bool first = b.is_channels_first(0) && (kept || inner);
  if (first)
    for (int64_t& axis : axes) axis = channels_first_axis(axis);
  OnnxBuilder::Names inputs{first ? b.channels_first(0) : b.plain(0)};
  OnnxAttributes attributes;
  attributes.integer("keepdims", kept);
  if (b.now().op == "Sum")
    inputs.push_back(b.integers(b.now().name + "/axes", axes));
  else
    attributes.list("axes", axes);
  const std::string name = b.emit("Reduce" + b.now().op, inputs, b.now().name, attributes);
  return in_form(first && kept, name);
}

/// Opset 17 has no reductions of bool.
DISTRIBUTE_INLINE OnnxValue onnx_bool_reduction(OnnxBuilder& b) {
  const std::string& name = b.now().name;
  const auto cast = [&](const std::string& x, DType dtype, const std::string& output) {
    return b.emit("Cast", {x}, output, OnnxAttributes().integer("to", onnx_type(dtype)));
  };
  OnnxAttributes attributes;
  attributes.integer("keepdims", b.flag("keep_dims")).list("axes", b.list("axes"));
  const std::string numbers = cast(b.plain(0), DType::Int32, name + "/numbers");
  const std::string reduced = b.emit(b.now().op == "Any" ? "ReduceMax" : "ReduceMin", {numbers},
                                     name + "/reduced", attributes);
  return {.plain = cast(reduced, DType::Bool, name)};
}

DISTRIBUTE_INLINE OnnxValue onnx_top_k(OnnxBuilder& b) {
  const std::string& name = b.now().name;
  const std::string k = b.integers(name + "/k", {b.integer("k")});
  return {.plain = b.emit("TopK", {b.plain(0), k}, name, {}, name + "/indices")};
}

DISTRIBUTE_INLINE OnnxValue onnx_second_result(OnnxBuilder& b) {
  return {.plain = b.emit("Cast", {b.input(0).name + "/indices"}, b.now().name,
                          OnnxAttributes().integer("to", onnx_type(b.now().dtype)))};
}

DISTRIBUTE_INLINE OnnxValue onnx_arg_extreme(OnnxBuilder& b) {
  OnnxAttributes attributes;
  attributes.integer("axis", b.integer("axis")).integer("keepdims", 0);
  return {.plain = b.emit(b.now().op, {b.plain(0)}, b.now().name, attributes)};
}

DISTRIBUTE_INLINE OnnxValue onnx_slice(OnnxBuilder& b) {
  Sizes ends = b.list("end"), axes;
  for (size_t i = 0; i < ends.size(); ++i) {
    axes.push_back(int64_t(i));
    if (ends[i] == std::numeric_limits<int32_t>::max())
      ends[i] = std::numeric_limits<int64_t>::max();
    if (ends[i] == -std::numeric_limits<int32_t>::max())
      ends[i] = std::numeric_limits<int64_t>::min();
  }
  const std::string& name = b.now().name;
  return {.plain = b.emit("Slice",
                          {b.plain(0), b.integers(name + "/starts", b.list("begin")),
                           b.integers(name + "/ends", ends), b.integers(name + "/axes", axes),
                           b.integers(name + "/steps", b.list("strides"))},
                          name)};
}

DISTRIBUTE_INLINE OnnxValue onnx_pad(OnnxBuilder& b) {
  const Sizes& pairs = b.list("paddings");
  const bool first = b.is_channels_first(0);
  Sizes pads(pairs.size(), 0);  // all begins, then all ends
  for (size_t i = 0; i < pairs.size() / 2; ++i) {
    const size_t at = first ? size_t(channels_first_axis(int64_t(i))) : i;
    pads[at] = pairs[2 * i];
    pads[at + pairs.size() / 2] = pairs[2 * i + 1];
  }
  const std::string name = b.emit("Pad",
                                  {first ? b.channels_first(0) : b.plain(0),
                                   b.integers(b.now().name + "/pads", pads), b.plain(1)},
                                  b.now().name);
  return in_form(first, name);
}

DISTRIBUTE_INLINE OnnxValue onnx_concat_values(OnnxBuilder& b) {
  bool first = b.now().shape.size() == 4;
  for (size_t i = 0; i < b.now().inputs.size(); ++i)
    first &= b.is_channels_first(i) || b.input(i).op == "Const";
  first &= b.is_channels_first(0);
  OnnxBuilder::Names inputs;
  for (size_t i = 0; i < b.now().inputs.size(); ++i)
    inputs.push_back(first ? b.channels_first(i) : b.plain(i));
  const int64_t axis = first ? channels_first_axis(b.integer("axis")) : b.integer("axis");
  const std::string name =
      b.emit("Concat", inputs, b.now().name, OnnxAttributes().integer("axis", axis));
  return in_form(first, name);
}

DISTRIBUTE_INLINE OnnxValue onnx_one_hot(OnnxBuilder& b) {
  const std::string& name = b.now().name;
  const std::string ids = b.emit("Cast", {b.plain(0)}, name + "/indices",
                                 OnnxAttributes().integer("to", onnx_type(DType::Int64)));
  const std::string depth = b.initializer(name + "/depth", Tensor(b.integer("depth")));
  const std::string one = b.integers(name + "/one", {1});
  const std::string off = b.emit("Reshape", {b.plain(2), one}, name + "/off");
  const std::string on = b.emit("Reshape", {b.plain(1), one}, name + "/on");
  const std::string values =
      b.emit("Concat", {off, on}, name + "/values", OnnxAttributes().integer("axis", 0));
  return {.plain = b.emit("OneHot", {ids, depth, values}, name,
                          OnnxAttributes().integer("axis", b.integer("axis")))};
}

}  // namespace distribute::saved_model_internal
