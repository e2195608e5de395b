#pragma once
#include <distribute/base/error.hpp>
#include <distribute/device/backend.hpp>
#include <distribute/io/path.hpp>
#include <distribute/ops/cast.hpp>
#include <distribute/ops/window.hpp>
#include <distribute/saved_model/lowering.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

namespace distribute::saved_model_internal {

DISTRIBUTE_INLINE std::string UniqueNames::make(const std::string& wanted) {
  std::string base = wanted.empty() ? "value" : wanted;
  for (size_t i = 0; i < base.size(); ++i) {
    const bool letter = std::isalnum(static_cast<unsigned char>(base[i])) != 0;
    if (!letter && base[i] != '.' &&
        (i == 0 || std::string("_-/\\>").find(base[i]) == std::string::npos))
      base[i] = i == 0 ? '.' : '_';
  }
  std::string name = base;
  for (int i = 1; !used_.insert(name).second; ++i) name = concat(base, "_", i);
  return name;
}

/// Sizes of a and b broadcast; one that follows the batch stays so.
DISTRIBUTE_INLINE std::vector<int64_t> broadcast_sizes(const std::vector<int64_t>& a,
                                                       const std::vector<int64_t>& b) {
  std::vector<int64_t> result(std::max(a.size(), b.size()));
  for (size_t i = 1; i <= result.size(); ++i) {
    const int64_t x = i <= a.size() ? a[a.size() - i] : 1;
    const int64_t y = i <= b.size() ? b[b.size() - i] : 1;
    result[result.size() - i] = x == 1 ? y : y == 1 ? x : std::min(x, y);
  }
  return result;
}

/// TensorFlow's names of what is the same there: functions of one and of two values.
DISTRIBUTE_INLINE std::string same_operation(const std::string& op) {
  static const std::unordered_map<std::string, std::string> names = {
      {"negative", "Neg"},
      {"abs", "Abs"},
      {"square", "Square"},
      {"exp", "Exp"},
      {"expm1", "Expm1"},
      {"log", "Log"},
      {"log1p", "Log1p"},
      {"sqrt", "Sqrt"},
      {"rsqrt", "Rsqrt"},
      {"reciprocal", "Reciprocal"},
      {"sin", "Sin"},
      {"cos", "Cos"},
      {"tanh", "Tanh"},
      {"sigmoid", "Sigmoid"},
      {"erf", "Erf"},
      {"floor", "Floor"},
      {"ceil", "Ceil"},
      {"is_nan", "IsNan"},
      {"is_inf", "IsInf"},
      {"is_finite", "IsFinite"},
      {"round", "Round"},
      {"sign", "Sign"},
      {"relu", "Relu"},
      {"relu6", "Relu6"},
      {"elu", "Elu"},
      {"selu", "Selu"},
      {"softplus", "Softplus"},
      {"add", "AddV2"},
      {"subtract", "Sub"},
      {"multiply", "Mul"},
      {"divide", "RealDiv"},
      {"maximum", "Maximum"},
      {"minimum", "Minimum"},
      {"pow", "Pow"},
      {"equal", "Equal"},
      {"not_equal", "NotEqual"},
      {"logical_xor", "NotEqual"},
      {"less", "Less"},
      {"less_equal", "LessEqual"},
      {"greater", "Greater"},
      {"greater_equal", "GreaterEqual"},
      {"logical_and", "LogicalAnd"},
      {"logical_or", "LogicalOr"}};
  const auto found = names.find(op);
  return found == names.end() ? "" : found->second;
}

DISTRIBUTE_INLINE GraphLowering::GraphLowering(const std::vector<PassOp>& ops,
                                               const saved_model::TraceOptions& options)
    : ops_(ops), options_(options) {
  if (options.input_name.empty() || options.input_name == options.output_name)
    throw InvalidArgumentError(concat("export: input and output need names that differ, got '",
                                      options.input_name, "' and '", options.output_name, "'"));
  for (const std::string& name : {options.input_name, options.output_name})
    if (names_.make(name) != name)
      throw InvalidArgumentError(concat("export: '", name, "' cannot be the name of an input or ",
                                        "output; use letters, digits, '_', '-' and '.'"));
}

DISTRIBUTE_INLINE saved_model::InferenceGraph GraphLowering::run() {
  for (const PassOp& op : ops_) {
    op_ = &op;
    places_.push_back(lower());
  }
  const Node& last = node(places_.back());
  graph_.output = int(graph_.nodes.size());
  graph_.nodes.push_back(
      {options_.output_name, "Identity", {places_.back()}, {}, last.dtype, last.shape});
  return std::move(graph_);
}

DISTRIBUTE_INLINE void GraphLowering::refuse(const std::string& reason) const {
  const std::string at = scope();
  throw UnimplementedError(concat("export: operation '", op_->name, "'",
                                  at.empty() ? "" : " of '" + at + "'", " ", reason,
                                  "; leave it out of the exported function"));
}

DISTRIBUTE_INLINE int64_t GraphLowering::integer(const char* key) const {
  const auto found = op_->attributes.find(key);
  if (found == op_->attributes.end()) refuse("has no counterpart in the graphs of TensorFlow");
  return std::get<int64_t>(found->second);
}
DISTRIBUTE_INLINE float GraphLowering::real(const char* key) const {
  const auto found = op_->attributes.find(key);
  if (found == op_->attributes.end()) refuse("has no counterpart in the graphs of TensorFlow");
  return float(std::get<double>(found->second));
}
DISTRIBUTE_INLINE const GraphLowering::Sizes& GraphLowering::list(const char* key) const {
  const auto found = op_->attributes.find(key);
  if (found == op_->attributes.end()) refuse("has no counterpart in the graphs of TensorFlow");
  return std::get<Sizes>(found->second);
}

/// Where the weight of this operation belongs: "conv1" for "conv1/kernel".
DISTRIBUTE_INLINE std::string GraphLowering::scope() const {
  for (int input : op_->inputs) {
    if (input < 0) continue;
    const PassOp* from = &ops_[size_t(input)];
    while (from->name == "cast" || from->name == "copy" || from->name == "reshape")
      from = &ops_[size_t(from->inputs[0])];
    if (from->variable) return io::directory_of(from->variable.name());
  }
  return "";
}

DISTRIBUTE_INLINE int GraphLowering::add(const std::string& op, std::vector<int> inputs,
                                         Sizes shape, DType dtype, Attributes attributes) {
  const std::string at = scope();
  graph_.nodes.push_back({names_.make(at.empty() ? op : at + "/" + op), op, std::move(inputs),
                          std::move(attributes), dtype, std::move(shape)});
  return int(graph_.nodes.size()) - 1;
}

DISTRIBUTE_INLINE int GraphLowering::constant(const Tensor& value, const std::string& name,
                                              const Variable& variable) {
  const Tensor here = value.to(Device{}).row_major();
  const Tensor kept = distribute::cast(here, exported_dtype(here.dtype()));
  graph_.nodes.push_back({.name = names_.make(name.empty() ? "Const" : name),
                          .op = "Const",
                          .inputs = {},
                          .dtype = kept.dtype(),
                          .shape = {kept.shape().begin(), kept.shape().end()},
                          .value = kept,
                          .variable = variable});
  return int(graph_.nodes.size()) - 1;
}

DISTRIBUTE_INLINE int GraphLowering::number(double value, DType dtype) {
  return constant(fill({}, float(value), dtype, Device{}));
}

DISTRIBUTE_INLINE int GraphLowering::unary(const std::string& op, int x, Attributes attributes) {
  return add(op, {x}, node(x).shape, node(x).dtype, std::move(attributes));
}

DISTRIBUTE_INLINE int GraphLowering::binary(const std::string& op, int a, int b) {
  return add(op, {a, b}, broadcast_sizes(node(a).shape, node(b).shape), node(a).dtype);
}

DISTRIBUTE_INLINE int GraphLowering::reshape(int x, const Sizes& shape) {
  if (node(x).shape == shape && std::count(shape.begin(), shape.end(), -1) < 2) return x;
  if (std::count(shape.begin(), shape.end(), -1) > 1)
    refuse("needs a shape of which more than one size follows the batch");
  return add("Reshape", {x}, shape, node(x).dtype, {{"shape", shape}});
}

DISTRIBUTE_INLINE int GraphLowering::transpose(int x, const Sizes& permutation) {
  Sizes shape;
  for (const int64_t axis : permutation) shape.push_back(node(x).shape[size_t(axis)]);
  return add("Transpose", {x}, shape, node(x).dtype, {{"perm", permutation}});
}

DISTRIBUTE_INLINE int GraphLowering::with_epilogue(int y) {
  return Epilogue(integer("epilogue")) == Epilogue::Relu ? unary("Relu", y) : y;
}

DISTRIBUTE_INLINE int GraphLowering::lower() {
  const std::string& name = op_->name;
  if (name == "input") {
    graph_.input = int(graph_.nodes.size());
    graph_.nodes.push_back(
        {options_.input_name, "Placeholder", {}, {}, exported_dtype(op_->dtype), op_->shape});
    return graph_.input;
  }
  if (name == "variable") return constant(op_->value, op_->variable.name(), op_->variable);
  if (name == "constant") return constant(op_->value);
  using Method = int (GraphLowering::*)();
  static const std::unordered_map<std::string, Method> methods = {
      {"dense", &GraphLowering::dense},
      {"matmul", &GraphLowering::matmul},
      {"avg_pool2d", &GraphLowering::average_pool},
      {"fused_batch_norm", &GraphLowering::fused_batch_norm},
      {"layer_normalization", &GraphLowering::layer_norm},
      {"gelu", &GraphLowering::activation},
      {"gelu_approximate", &GraphLowering::activation},
      {"silu", &GraphLowering::activation},
      {"clip_by_value", &GraphLowering::clip},
      {"slice", &GraphLowering::slice},
      {"put_slice", &GraphLowering::pad},
      {"broadcast_to", &GraphLowering::broadcast},
      {"one_hot", &GraphLowering::one_hot},
      {"cast", &GraphLowering::cast}};
  if (const auto found = methods.find(name); found != methods.end())
    return (this->*found->second)();
  return lower_simple();
}

DISTRIBUTE_INLINE int GraphLowering::lower_simple() {
  const std::string& name = op_->name;
  const DType dtype = exported_dtype(op_->dtype);
  if (const std::string same = same_operation(name); !same.empty()) {
    std::vector<int> inputs;
    for (size_t i = 0; i < op_->inputs.size(); ++i) inputs.push_back(in(i));
    return add(same, inputs, op_->shape, dtype);
  }
  if (name == "stop_gradient" || name == "copy") return in(0);
  if (name == "conv2d") return convolution(false);
  if (name == "depthwise_conv2d") return convolution(true);
  if (name == "max_pool2d") return pool("MaxPool");
  if (name == "leaky_relu") return unary("LeakyRelu", in(0), {{"alpha", real("alpha")}});
  if (name == "reshape") return reshape(in(0), op_->shape);
  if (name == "transpose") return transpose(in(0), list("permutation"));
  if (name == "batch_normalization")
    return with_epilogue(
        batch_norm_formula(in(0), in(1), in(2), has(3) ? in(3) : -1, has(4) ? in(4) : -1));
  if (name == "reduce_sum") return reduction("Sum");
  if (name == "reduce_mean") return reduction("Mean");
  if (name == "reduce_prod") return reduction("Prod");
  if (name == "reduce_max") return reduction("Max");
  if (name == "reduce_min") return reduction("Min");
  if (name == "softmax") return softmax("Softmax");
  if (name == "log_softmax") return softmax("LogSoftmax");
  if (name == "where") return add("SelectV2", {in(0), in(1), in(2)}, op_->shape, dtype);
  if (name == "gather") return gather();
  if (name == "argmax" || name == "argmin")
    return add(name == "argmax" ? "ArgMax" : "ArgMin", {in(0)}, op_->shape, dtype,
               {{"axis", integer("axis")}});
  if (name == "concat") {
    std::vector<int> inputs;
    for (size_t i = 0; i < op_->inputs.size(); ++i) inputs.push_back(in(i));
    return add("ConcatV2", inputs, op_->shape, dtype, {{"axis", integer("axis")}});
  }
  refuse("has no counterpart in the graphs of TensorFlow");
}

/// Paddings of all four axes where they are explicit.
DISTRIBUTE_INLINE std::string window_padding(int64_t padding, const std::vector<int64_t>& edges,
                                             saved_model::GraphAttributes& attributes) {
  if (Padding(padding) == Padding::Same) return "SAME";
  if (Padding(padding) == Padding::Valid || edges == std::vector<int64_t>(4, 0)) return "VALID";
  attributes["explicit_paddings"] =
      std::vector<int64_t>{0, 0, edges[0], edges[1], edges[2], edges[3], 0, 0};
  return "EXPLICIT";
}

DISTRIBUTE_INLINE int GraphLowering::convolution(bool depthwise) {
  const Sizes &strides = list("strides"), &dilations = list("dilations");
  Attributes attributes{{"strides", Sizes{1, strides[0], strides[1], 1}}};
  attributes["padding"] = window_padding(integer("padding"), list("explicit_paddings"), attributes);
  if (dilations != Sizes{1, 1}) attributes["dilations"] = Sizes{1, dilations[0], dilations[1], 1};
  std::vector<int> inputs{in(0), in(1)};
  // TensorFlow's depthwise kernels take equal strides and no holes; grouped ones take everything.
  const bool simple = strides[0] == strides[1] && dilations == Sizes{1, 1};
  if (depthwise && !simple) {
    const Sizes f = node(in(1)).shape;
    inputs[1] = reshape(in(1), {f[0], f[1], 1, f[2] * f[3]});
  }
  if (has(2)) inputs.push_back(in(2));
  return with_epilogue(add(depthwise && simple ? "DepthwiseConv2dNative" : "Conv2D", inputs,
                           op_->shape, DType::Float32, attributes));
}

DISTRIBUTE_INLINE int GraphLowering::pool(const char* op) {
  const Sizes &size = list("ksize"), &strides = list("strides");
  Attributes attributes{{"ksize", Sizes{1, size[0], size[1], 1}},
                        {"strides", Sizes{1, strides[0], strides[1], 1}}};
  attributes["padding"] = window_padding(integer("padding"), list("explicit_paddings"), attributes);
  return add(op, {in(0)}, op_->shape, DType::Float32, attributes);
}

/// TensorFlow's average has no explicit paddings: the mean with zeros around, divided by that of
/// ones with zeros around.
DISTRIBUTE_INLINE int GraphLowering::average_pool() {
  const Sizes edges = list("explicit_paddings");
  if (Padding(integer("padding")) != Padding::Explicit || edges == Sizes(4, 0))
    return pool("AvgPool");
  const Sizes &size = list("ksize"), &strides = list("strides"), in_shape = node(in(0)).shape;
  Sizes padded = in_shape;
  for (size_t a = 0; a < 2; ++a) padded[1 + a] += edges[2 * a] + edges[2 * a + 1];
  const int wide = add("PadV2", {in(0), number(0)}, padded, DType::Float32,
                       {{"paddings", Sizes{0, 0, edges[0], edges[1], edges[2], edges[3], 0, 0}}});
  const int mean = add("AvgPool", {wide}, op_->shape, DType::Float32,
                       {{"ksize", Sizes{1, size[0], size[1], 1}},
                        {"strides", Sizes{1, strides[0], strides[1], 1}},
                        {"padding", std::string("VALID")}});
  std::vector<float> part;
  const auto inside = [&](size_t a, int64_t at) {
    const int64_t begin = at * strides[a] - edges[2 * a], end = begin + size[a];
    return std::min(end, in_shape[1 + a]) - std::max<int64_t>(begin, 0);
  };
  for (int64_t y = 0; y < op_->shape[1]; ++y)
    for (int64_t x = 0; x < op_->shape[2]; ++x)
      part.push_back(float(inside(0, y) * inside(1, x)) / float(size[0] * size[1]));
  return binary("RealDiv", mean, constant(Tensor({1, op_->shape[1], op_->shape[2], 1}, part)));
}

DISTRIBUTE_INLINE int GraphLowering::dense() {
  const Sizes kernel = node(in(1)).shape;
  const int x = rank(in(0)) == 2 ? in(0) : reshape(in(0), {-1, kernel[0]});
  std::vector<int> inputs{x, in(1)};
  if (has(2)) inputs.push_back(in(2));
  const int y = with_epilogue(add("MatMul", inputs, {node(x).shape[0], kernel[1]}, DType::Float32));
  return rank(in(0)) == 2 ? y : reshape(y, op_->shape);
}

DISTRIBUTE_INLINE int GraphLowering::matmul() {
  const bool plain = rank(in(0)) == 2 && rank(in(1)) == 2;
  const bool a = integer("transpose_a") != 0, b = integer("transpose_b") != 0;
  Attributes attributes;
  if (a) attributes[plain ? "transpose_a" : "adj_x"] = true;
  if (b) attributes[plain ? "transpose_b" : "adj_y"] = true;
  return add(plain ? "MatMul" : "BatchMatMulV2", {in(0), in(1)}, op_->shape,
             exported_dtype(op_->dtype), attributes);
}

DISTRIBUTE_INLINE int GraphLowering::batch_norm_formula(int x, int mean, int variance, int offset,
                                                        int scale) {
  int factor = unary("Rsqrt", binary("AddV2", variance, number(real("epsilon"))));
  if (scale >= 0) factor = binary("Mul", factor, scale);
  int shift = unary("Neg", binary("Mul", mean, factor));
  if (offset >= 0) shift = binary("AddV2", offset, shift);
  return binary("AddV2", binary("Mul", x, factor), shift);
}

/// Images in one node, as TensorFlow does; other ranks by the formula.
DISTRIBUTE_INLINE int GraphLowering::fused_batch_norm() {
  const int scale = has(1) ? in(1) : -1, offset = has(2) ? in(2) : -1;
  int y;
  if (rank(in(0)) == 4) {
    const Shape channels{op_->shape.back()};
    const auto filled = [&](float value) {
      return constant(fill(channels, value, DType::Float32, Device{}));
    };
    y = add("FusedBatchNormV3",
            {in(0), scale < 0 ? filled(1) : scale, offset < 0 ? filled(0) : offset, in(3), in(4)},
            op_->shape, DType::Float32, {{"epsilon", real("epsilon")}, {"is_training", false}});
  } else {
    y = batch_norm_formula(in(0), in(3), in(4), offset, scale);
  }
  if (has(5)) y = binary("AddV2", y, in(5));
  return with_epilogue(y);
}

DISTRIBUTE_INLINE int GraphLowering::layer_norm() {
  Sizes axes, kept = op_->shape;
  for (int64_t axis = integer("begin_axis"); axis < rank(in(0)); ++axis) {
    axes.push_back(axis);
    kept[size_t(axis)] = 1;
  }
  const auto mean = [&](int x) {
    return add("Mean", {x}, kept, DType::Float32, {{"axes", axes}, {"keep_dims", true}});
  };
  const int centred = binary("Sub", in(0), mean(in(0)));
  const int variance = binary("AddV2", mean(unary("Square", centred)), number(real("epsilon")));
  int y = binary("Mul", centred, unary("Rsqrt", variance));
  if (has(1)) y = binary("Mul", y, in(1));
  if (has(2)) y = binary("AddV2", y, in(2));
  return y;
}

DISTRIBUTE_INLINE int GraphLowering::activation() {
  const int x = in(0);
  if (op_->name == "silu") return binary("Mul", x, unary("Sigmoid", x));
  int gate;
  if (op_->name == "gelu") {
    gate = unary("Erf", binary("Mul", x, number(std::sqrt(0.5))));
  } else {
    const int cube = binary("Mul", binary("Mul", x, x), binary("Mul", x, number(0.044715)));
    gate = unary("Tanh", binary("Mul", binary("AddV2", x, cube), number(std::sqrt(2 / M_PI))));
  }
  return binary("Mul", binary("Mul", x, number(0.5)), binary("AddV2", gate, number(1)));
}

DISTRIBUTE_INLINE int GraphLowering::clip() {
  return binary("Minimum", binary("Maximum", in(0), number(real("low"))), number(real("high")));
}

DISTRIBUTE_INLINE int GraphLowering::reduction(const char* op) {
  Attributes attributes{{"axes", list("axes")}};
  if (integer("keepdims")) attributes["keep_dims"] = true;
  return add(op, {in(0)}, op_->shape, exported_dtype(op_->dtype), attributes);
}

/// Ends that the largest number stands for are open.
DISTRIBUTE_INLINE int GraphLowering::slice() {
  constexpr int64_t kOpen = std::numeric_limits<int32_t>::max();
  const Sizes &begin = list("begin"), &step = list("step"), &size = list("size"),
              &whole = list("whole");
  Sizes ends;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (whole[i] != 1 && (size[i] < 0 || begin[i] < 0))
      refuse("takes a part of the batch whose size follows it");
    const int64_t end = begin[i] + (size[i] - 1) * step[i] + (step[i] > 0 ? 1 : -1);
    ends.push_back(whole[i] == 1 ? kOpen : end < 0 ? -kOpen : size[i] == 0 ? begin[i] : end);
  }
  return add("StridedSlice", {in(0)}, op_->shape, exported_dtype(op_->dtype),
             {{"begin", begin}, {"end", ends}, {"strides", step}});
}

DISTRIBUTE_INLINE int GraphLowering::pad() {
  const Sizes &before = list("before"), &after = list("after");
  Sizes paddings;
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i] < 0 || after[i] < 0 || list("step")[i] != 1)
      refuse("adds more than a border of a known width");
    paddings.push_back(before[i]);
    paddings.push_back(after[i]);
  }
  const DType dtype = exported_dtype(op_->dtype);
  return add("PadV2", {in(0), number(real("value"), dtype)}, op_->shape, dtype,
             {{"paddings", paddings}});
}

/// TensorFlow's takes the last axis only.
DISTRIBUTE_INLINE int GraphLowering::softmax(const char* op) {
  const int last = rank(in(0)) - 1;
  const int64_t axis = integer("axis");
  if (axis == last) return unary(op, in(0));
  Sizes swapped;
  for (int64_t i = 0; i <= last; ++i) swapped.push_back(i == axis ? last : i == last ? axis : i);
  return transpose(unary(op, transpose(in(0), swapped)), swapped);
}

/// Adding zeros needs no shape that follows the batch.
DISTRIBUTE_INLINE int GraphLowering::broadcast() {
  Sizes sizes = op_->shape;
  const Sizes& from = node(in(0)).shape;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t extra = sizes.size() - from.size();
    if (sizes[i] >= 0) continue;
    if (i < extra || from[i - extra] != -1) refuse("repeats a value as often as the batch is long");
    sizes[i] = 1;
  }
  const DType dtype = exported_dtype(op_->dtype);
  if (dtype == DType::Bool) refuse("repeats values of dtype bool");
  return binary("AddV2", in(0), constant(fill(Shape(sizes), 0, dtype, Device{})));
}

DISTRIBUTE_INLINE int GraphLowering::one_hot() {
  const DType dtype = exported_dtype(op_->dtype);
  return add("OneHot", {in(0), number(real("on_value"), dtype), number(real("off_value"), dtype)},
             op_->shape, dtype, {{"depth", integer("depth")}, {"axis", integer("axis")}});
}

/// TensorFlow's indices are int32 or int64.
DISTRIBUTE_INLINE int GraphLowering::gather() {
  int indices = in(1);
  if (const DType dtype = node(indices).dtype; dtype != DType::Int32 && dtype != DType::Int64)
    indices = add("Cast", {indices}, node(indices).shape, DType::Int64);
  return add("GatherV2", {in(0), indices}, op_->shape, exported_dtype(op_->dtype),
             {{"axis", integer("axis")}});
}

/// Between floating dtypes there is nothing to do: all of them are float32 in the file.
DISTRIBUTE_INLINE int GraphLowering::cast() {
  const DType to = exported_dtype(op_->dtype);
  return node(in(0)).dtype == to ? in(0) : add("Cast", {in(0)}, op_->shape, to);
}

}  // namespace distribute::saved_model_internal

namespace distribute::saved_model {

DISTRIBUTE_INLINE InferenceGraph trace_inference(const InferenceFunction& function,
                                                 const TraceOptions& options) {
  const std::vector<int64_t>& sizes = options.input.shape;
  if (sizes.empty() || std::count(sizes.begin() + 1, sizes.end(), -1) > 0)
    throw InvalidArgumentError(
        concat("export: the input must be [batch, ...] with all other sizes known, got ",
               data::to_string({options.input})));
  const auto ops = saved_model_internal::compare_passes(function, options.input);
  return saved_model_internal::GraphLowering(ops, options).run();
}

}  // namespace distribute::saved_model
