#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/transpose.hpp>
#include <distribute/ops/window.hpp>
#include <distribute/saved_model/onnx_graph.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

namespace distribute::saved_model_internal {

DISTRIBUTE_INLINE int64_t onnx_type(DType dtype) {
  switch (dtype) {
    case DType::Float32: return 1;
    case DType::UInt8: return 2;
    case DType::Int32: return 6;
    case DType::Int64: return 7;
    case DType::Bool: return 9;
    case DType::Float16: return 10;
    case DType::BFloat16: return 16;
  }
  return 0;
}

/// ONNX's names of what is the same there, element by element.
DISTRIBUTE_INLINE std::string onnx_elementwise(const std::string& op) {
  static const std::unordered_map<std::string, std::string> names = {
      {"IsNan", "IsNaN"},
      {"IsInf", "IsInf"},
      {"Neg", "Neg"},
      {"Abs", "Abs"},
      {"Exp", "Exp"},
      {"Log", "Log"},
      {"Sqrt", "Sqrt"},
      {"Reciprocal", "Reciprocal"},
      {"Sin", "Sin"},
      {"Cos", "Cos"},
      {"Tanh", "Tanh"},
      {"Sigmoid", "Sigmoid"},
      {"Erf", "Erf"},
      {"Floor", "Floor"},
      {"Ceil", "Ceil"},
      {"Round", "Round"},
      {"Sign", "Sign"},
      {"Relu", "Relu"},
      {"Elu", "Elu"},
      {"Selu", "Selu"},
      {"Softplus", "Softplus"},
      {"AddV2", "Add"},
      {"Sub", "Sub"},
      {"Mul", "Mul"},
      {"RealDiv", "Div"},
      {"Maximum", "Max"},
      {"Minimum", "Min"},
      {"Pow", "Pow"},
      {"Equal", "Equal"},
      {"Less", "Less"},
      {"LessEqual", "LessOrEqual"},
      {"Greater", "Greater"},
      {"GreaterEqual", "GreaterOrEqual"},
      {"LogicalAnd", "And"},
      {"LogicalOr", "Or"},
      {"SelectV2", "Where"}};
  const auto found = names.find(op);
  return found == names.end() ? "" : found->second;
}

DISTRIBUTE_INLINE std::string value_info(const std::string& name,
                                         const saved_model::InferenceNode& node) {
  io::ProtoWriter info, type, tensor, shape;
  for (const int64_t size : node.shape) {
    io::ProtoWriter dim;
    if (size < 0)
      dim.bytes(2, "batch");
    else
      dim.integer(1, size, io::Presence::Always);
    shape.message(1, dim);
  }
  tensor.integer(1, onnx_type(node.dtype));
  tensor.message(2, shape);
  type.message(1, tensor);
  info.bytes(1, name);
  info.message(2, type);
  return info.take();
}

DISTRIBUTE_INLINE OnnxLowering::Attributes& OnnxLowering::Attributes::integer(
    const std::string& name, int64_t value) {
  io::ProtoWriter proto;
  proto.bytes(1, name);
  proto.integer(3, value, io::Presence::Always);
  proto.integer(20, 2);  // INT
  protos.push_back(proto.take());
  return *this;
}
DISTRIBUTE_INLINE OnnxLowering::Attributes& OnnxLowering::Attributes::real(const std::string& name,
                                                                           float value) {
  io::ProtoWriter proto;
  proto.bytes(1, name);
  proto.float32(2, value, io::Presence::Always);
  proto.integer(20, 1);  // FLOAT
  protos.push_back(proto.take());
  return *this;
}
DISTRIBUTE_INLINE OnnxLowering::Attributes& OnnxLowering::Attributes::list(const std::string& name,
                                                                           const Sizes& values) {
  io::ProtoWriter proto;
  proto.bytes(1, name);
  proto.packed_integers(8, values);
  proto.integer(20, 7);  // INTS
  protos.push_back(proto.take());
  return *this;
}

DISTRIBUTE_INLINE const OnnxLowering::Sizes& OnnxLowering::list(const char* key) const {
  return std::get<Sizes>(now_->attributes.at(key));
}
DISTRIBUTE_INLINE int64_t OnnxLowering::integer(const char* key) const {
  return std::get<int64_t>(now_->attributes.at(key));
}
DISTRIBUTE_INLINE bool OnnxLowering::flag(const char* key) const {
  const auto found = now_->attributes.find(key);
  return found != now_->attributes.end() && std::get<bool>(found->second);
}

/// A node's name is that of its output.
DISTRIBUTE_INLINE std::string OnnxLowering::emit(const std::string& op, const Names& inputs,
                                                 const std::string& output,
                                                 const Attributes& attributes) {
  io::ProtoWriter proto;
  for (const std::string& input : inputs) proto.message(1, input);
  proto.bytes(2, output);
  proto.bytes(3, output);
  proto.bytes(4, op);
  for (const std::string& attribute : attributes.protos) proto.message(5, attribute);
  result_.nodes.push_back(proto.take());
  return output;
}

DISTRIBUTE_INLINE std::string OnnxLowering::initializer(const std::string& name,
                                                        const Tensor& value) {
  if (made_.insert(name).second) result_.initializers.emplace_back(name, value.row_major());
  return name;
}

DISTRIBUTE_INLINE std::string OnnxLowering::integers(const std::string& name, const Sizes& values) {
  return initializer(name, Tensor(Shape{int64_t(values.size())}, values));
}

DISTRIBUTE_INLINE std::string OnnxLowering::plain(int place) {
  Value& value = values_[size_t(place)];
  if (!value.plain.empty()) return value.plain;
  const Node& of = node(place);
  if (of.op == "Const") return value.plain = initializer(of.name, of.value);
  return value.plain = emit("Transpose", {value.channels_first}, of.name + "/nhwc",
                            Attributes().list("perm", {0, 2, 3, 1}));
}

DISTRIBUTE_INLINE std::string OnnxLowering::channels_first(int place) {
  Value& value = values_[size_t(place)];
  if (!value.channels_first.empty()) return value.channels_first;
  const Node& of = node(place);
  const std::string name = of.name + "/nchw";
  if (of.op == "Const")
    return value.channels_first =
               initializer(name, transpose(of.value, std::array<int, 4>{0, 3, 1, 2}));
  return value.channels_first =
             emit("Transpose", {value.plain}, name, Attributes().list("perm", {0, 3, 1, 2}));
}

DISTRIBUTE_INLINE bool OnnxLowering::is_channels_first(size_t i) const {
  return !values_[size_t(now_->inputs[i])].channels_first.empty() && input(i).op != "Const";
}

DISTRIBUTE_INLINE OnnxGraph OnnxLowering::run() {
  for (const Node& of : graph_.nodes) {
    now_ = &of;
    values_.push_back(write());
  }
  result_.input = value_info(node(graph_.input).name, node(graph_.input));
  result_.output = value_info(node(graph_.output).name, node(graph_.output));
  return std::move(result_);
}

DISTRIBUTE_INLINE OnnxLowering::Value OnnxLowering::write() {
  const std::string& op = now_->op;
  if (op == "Const") return {};  // written in the form that somebody asks for
  if (op == "Placeholder") return {.plain = now_->name, .channels_first = {}};
  if (op == "Identity")
    return {.plain = emit("Identity", {in(0)}, now_->name), .channels_first = {}};
  if (const std::string same = onnx_elementwise(op); !same.empty()) return elementwise(same);
  if (op == "LeakyRelu")
    return elementwise(op,
                       Attributes().real("alpha", std::get<float>(now_->attributes.at("alpha"))));
  if (op == "Cast") return elementwise(op, Attributes().integer("to", onnx_type(now_->dtype)));
  if (op == "Conv2D" || op == "DepthwiseConv2dNative") return convolution();
  if (op == "MaxPool" || op == "AvgPool") return pool();
  if (op == "FusedBatchNormV3") return batch_norm();
  if (op == "MatMul") return matmul();
  if (op == "BatchMatMulV2") return batch_matmul();
  if (op == "StridedSlice") return slice();
  if (op == "PadV2") return pad();
  if (op == "ConcatV2") return concat_values();
  if (op == "OneHot") return one_hot();
  if (now_->attributes.contains("axes")) return reduction();
  return write_other();
}

DISTRIBUTE_INLINE OnnxLowering::Value OnnxLowering::write_other() {
  const std::string &op = now_->op, &name = now_->name;
  if (op == "Reshape")
    return {.plain = emit(op, {in(0), integers(name + "/shape", list("shape"))}, name),
            .channels_first = {}};
  if (op == "Transpose")
    return {.plain = emit(op, {in(0)}, name, Attributes().list("perm", list("perm"))),
            .channels_first = {}};
  if (op == "Softmax" || op == "LogSoftmax")
    return {.plain = emit(op, {in(0)}, name, Attributes().integer("axis", -1)),
            .channels_first = {}};
  if (op == "GatherV2")
    return {.plain =
                emit("Gather", {in(0), in(1)}, name, Attributes().integer("axis", integer("axis"))),
            .channels_first = {}};
  if (op == "ArgMax" || op == "ArgMin")
    return {.plain = emit(op, {in(0)}, name,
                          Attributes().integer("axis", integer("axis")).integer("keepdims", 0)),
            .channels_first = {}};
  return composite();
}

/// Operand i for a result in that form; `fits` becomes false where it has none.
DISTRIBUTE_INLINE std::string OnnxLowering::operand(size_t i, bool first, bool& fits) {
  const Node& of = input(i);
  if (!first || of.shape.empty() || of.shape == Sizes{1}) return in(i);
  if (of.shape.size() == 4) return channels_first(now_->inputs[i]);
  if (of.shape.size() == 1 && of.op == "Const")
    return initializer(of.name + "/channels", of.value.view({of.shape[0], 1, 1}));
  fits = false;
  return "";
}

DISTRIBUTE_INLINE OnnxLowering::Value OnnxLowering::elementwise(const std::string& op,
                                                                const Attributes& attributes) {
  bool first = false;
  for (size_t i = 0; i < now_->inputs.size(); ++i) first |= is_channels_first(i);
  Names inputs;
  for (bool fits = false; !fits;) {
    inputs.clear();
    fits = true;
    for (size_t i = 0; i < now_->inputs.size() && fits; ++i)
      inputs.push_back(operand(i, first, fits));
    if (!fits) first = false;
  }
  const std::string name = emit(op, inputs, now_->name, attributes);
  return first ? Value{"", name} : Value{name, ""};
}

/// Functions that ONNX has in pieces.
DISTRIBUTE_INLINE OnnxLowering::Value OnnxLowering::composite() {
  const std::string &op = now_->op, &name = now_->name;
  const bool first = is_channels_first(0);
  bool fits = true;
  const std::string x = operand(0, first, fits);
  const auto number = [&](float value) {
    return initializer(concat(name, "/", value), Tensor(value));
  };
  const auto done = [&](const std::string& last, const Names& inputs) {
    emit(last, inputs, name);
    return first ? Value{"", name} : Value{name, ""};
  };
  if (op == "Square") return done("Mul", {x, x});
  if (op == "Rsqrt") return done("Reciprocal", {emit("Sqrt", {x}, name + "/Sqrt")});
  if (op == "Expm1") return done("Sub", {emit("Exp", {x}, name + "/Exp"), number(1)});
  if (op == "Log1p") return done("Log", {emit("Add", {x, number(1)}, name + "/Add")});
  if (op == "Relu6") return done("Clip", {x, number(0), number(6)});
  if (op == "IsFinite") {
    const std::string nan = emit("IsNaN", {x}, name + "/IsNaN");
    const std::string infinite = emit("IsInf", {x}, name + "/IsInf");
    return done("Not", {emit("Or", {nan, infinite}, name + "/Or")});
  }
  if (op == "NotEqual")
    return {.plain = emit("Not", {emit("Equal", {in(0), in(1)}, name + "/Equal")}, name),
            .channels_first = {}};
  throw UnimplementedError(
      concat("export_onnx: '", name, "': ONNX has no operation ", op, " for its operands"));
}

/// [height, width, in, out] as [out, in, height, width]; depthwise ones have one input each.
DISTRIBUTE_INLINE std::string OnnxLowering::convolution_weights(size_t i) {
  const Node& of = input(i);
  const Sizes& f = of.shape;
  const bool depthwise = now_->op == "DepthwiseConv2dNative";
  const Sizes shape = depthwise ? Sizes{f[0], f[1], 1, f[2] * f[3]} : Sizes{f[0], f[1], f[2], f[3]};
  const std::string name = of.name + (depthwise ? "/depthwise_oihw" : "/oihw");
  if (of.op == "Const")
    return initializer(name, transpose(of.value.view(Shape(std::span<const int64_t>(shape))),
                                       std::array<int, 4>{3, 2, 0, 1}));
  std::string from = in(i);
  if (depthwise)
    from = emit("Reshape", {from, integers(now_->name + "/shape", shape)}, now_->name + "/hwio");
  return emit("Transpose", {from}, now_->name + "/oihw", Attributes().list("perm", {3, 2, 0, 1}));
}

DISTRIBUTE_INLINE OnnxLowering::Attributes OnnxLowering::window(const Sizes& kernel) const {
  const Sizes& strides = list("strides");
  const std::string& padding = std::get<std::string>(now_->attributes.at("padding"));
  Sizes holes{1, 1}, pads(4, 0);  // pads: top, left, bottom, right
  if (now_->attributes.contains("dilations")) holes = {list("dilations")[1], list("dilations")[2]};
  for (size_t a = 0; a < 2; ++a) {
    if (padding == "EXPLICIT") {
      pads[a] = list("explicit_paddings")[2 + 2 * a];
      pads[2 + a] = list("explicit_paddings")[3 + 2 * a];
    } else if (padding == "SAME") {
      const WindowAxis axis = window_axis("export_onnx", input(0).shape[1 + a], kernel[a],
                                          strides[1 + a], holes[a], Padding::Same, 0, 0);
      pads[a] = axis.pad_before;
      pads[2 + a] = axis.pad_after;
    }
  }
  Attributes attributes;
  attributes.list("kernel_shape", kernel).list("strides", {strides[1], strides[2]});
  attributes.list("pads", pads);
  if (holes != Sizes{1, 1}) attributes.list("dilations", holes);
  return attributes;
}

DISTRIBUTE_INLINE OnnxLowering::Value OnnxLowering::convolution() {
  const Sizes& f = input(1).shape;
  const int64_t channels = input(0).shape[3];
  const int64_t groups = now_->op == "DepthwiseConv2dNative" ? channels : channels / f[2];
  Attributes attributes = window({f[0], f[1]});
  if (groups != 1) attributes.integer("group", groups);
  Names inputs{channels_first(now_->inputs[0]), convolution_weights(1)};
  if (now_->inputs.size() == 3) inputs.push_back(in(2));
  return {.plain = {}, .channels_first = emit("Conv", inputs, now_->name, attributes)};
}

DISTRIBUTE_INLINE OnnxLowering::Value OnnxLowering::pool() {
  const Sizes& size = list("ksize");
  return {.plain = {},
          .channels_first =
              emit(now_->op == "MaxPool" ? "MaxPool" : "AveragePool",
                   {channels_first(now_->inputs[0])}, now_->name, window({size[1], size[2]}))};
}

DISTRIBUTE_INLINE OnnxLowering::Value OnnxLowering::batch_norm() {
  const float epsilon = std::get<float>(now_->attributes.at("epsilon"));
  return {.plain = {},
          .channels_first = emit("BatchNormalization",
                                 {channels_first(now_->inputs[0]), in(1), in(2), in(3), in(4)},
                                 now_->name, Attributes().real("epsilon", epsilon))};
}

DISTRIBUTE_INLINE OnnxLowering::Value OnnxLowering::matmul() {
  const bool a = flag("transpose_a"), b = flag("transpose_b");
  Names inputs{in(0), in(1)};
  if (now_->inputs.size() == 3) inputs.push_back(in(2));
  if (inputs.size() == 2 && !a && !b)
    return {.plain = emit("MatMul", inputs, now_->name), .channels_first = {}};
  Attributes attributes;
  if (a) attributes.integer("transA", 1);
  if (b) attributes.integer("transB", 1);
  return {.plain = emit("Gemm", inputs, now_->name, attributes), .channels_first = {}};
}

DISTRIBUTE_INLINE OnnxLowering::Value OnnxLowering::batch_matmul() {
  Names inputs;
  for (size_t i = 0; i < 2; ++i) {
    inputs.push_back(in(i));
    if (!flag(i ? "adj_y" : "adj_x")) continue;
    Sizes swapped;
    for (size_t axis = 0; axis < input(i).shape.size(); ++axis) swapped.push_back(int64_t(axis));
    std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
    inputs[i] = emit("Transpose", {inputs[i]}, concat(now_->name, "/transposed_", i),
                     Attributes().list("perm", swapped));
  }
  return {.plain = emit("MatMul", inputs, now_->name), .channels_first = {}};
}

/// Where an axis of an NHWC image is in NCHW.
DISTRIBUTE_INLINE int64_t channels_first_axis(int64_t axis) {
  return axis == 0 ? 0 : axis == 3 ? 1 : axis + 1;
}

DISTRIBUTE_INLINE OnnxLowering::Value OnnxLowering::reduction() {
  Sizes axes = list("axes");
  const bool kept = flag("keep_dims"), inner = axes == Sizes{1, 2};
  const bool first = is_channels_first(0) && (kept || inner);
  if (first)
    for (int64_t& axis : axes) axis = channels_first_axis(axis);
  Names inputs{first ? channels_first(now_->inputs[0]) : in(0)};
  Attributes attributes;
  attributes.integer("keepdims", kept);
  if (now_->op == "Sum")
    inputs.push_back(integers(now_->name + "/axes", axes));
  else
    attributes.list("axes", axes);
  const std::string name = emit("Reduce" + now_->op, inputs, now_->name, attributes);
  return first && kept ? Value{"", name} : Value{name, ""};
}

DISTRIBUTE_INLINE OnnxLowering::Value OnnxLowering::slice() {
  Sizes ends = list("end"), axes;
  for (size_t i = 0; i < ends.size(); ++i) {
    axes.push_back(int64_t(i));
    if (ends[i] == std::numeric_limits<int32_t>::max())
      ends[i] = std::numeric_limits<int64_t>::max();
    if (ends[i] == -std::numeric_limits<int32_t>::max())
      ends[i] = std::numeric_limits<int64_t>::min();
  }
  const std::string& name = now_->name;
  return {.plain = emit(
              "Slice",
              {in(0), integers(name + "/starts", list("begin")), integers(name + "/ends", ends),
               integers(name + "/axes", axes), integers(name + "/steps", list("strides"))},
              name),
          .channels_first = {}};
}

DISTRIBUTE_INLINE OnnxLowering::Value OnnxLowering::pad() {
  const Sizes& pairs = list("paddings");
  const bool first = is_channels_first(0);
  Sizes pads(pairs.size(), 0);  // all begins, then all ends
  for (size_t i = 0; i < pairs.size() / 2; ++i) {
    const size_t at = first ? size_t(channels_first_axis(int64_t(i))) : i;
    pads[at] = pairs[2 * i];
    pads[at + pairs.size() / 2] = pairs[2 * i + 1];
  }
  const std::string name = emit("Pad",
                                {first ? channels_first(now_->inputs[0]) : in(0),
                                 integers(now_->name + "/pads", pads), in(1)},
                                now_->name);
  return first ? Value{"", name} : Value{name, ""};
}

DISTRIBUTE_INLINE OnnxLowering::Value OnnxLowering::concat_values() {
  bool first = now_->shape.size() == 4;
  for (size_t i = 0; i < now_->inputs.size(); ++i)
    first &= is_channels_first(i) || input(i).op == "Const";
  first &= is_channels_first(0);
  Names inputs;
  for (const int place : now_->inputs)
    inputs.push_back(first ? channels_first(place) : plain(place));
  const int64_t axis = first ? channels_first_axis(integer("axis")) : integer("axis");
  const std::string name = emit("Concat", inputs, now_->name, Attributes().integer("axis", axis));
  return first ? Value{"", name} : Value{name, ""};
}

DISTRIBUTE_INLINE OnnxLowering::Value OnnxLowering::one_hot() {
  const std::string& name = now_->name;
  const std::string ids =
      emit("Cast", {in(0)}, name + "/indices", Attributes().integer("to", onnx_type(DType::Int64)));
  const std::string depth = initializer(name + "/depth", Tensor(integer("depth")));
  const std::string one = integers(name + "/one", {1});
  const std::string off = emit("Reshape", {in(2), one}, name + "/off");
  const std::string on = emit("Reshape", {in(1), one}, name + "/on");
  const std::string values =
      emit("Concat", {off, on}, name + "/values", Attributes().integer("axis", 0));
  return {.plain = emit("OneHot", {ids, depth, values}, name,
                        Attributes().integer("axis", integer("axis"))),
          .channels_first = {}};
}

}  // namespace distribute::saved_model_internal
