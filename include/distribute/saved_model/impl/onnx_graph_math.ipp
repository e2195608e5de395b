#pragma once
#include <distribute/base/error.hpp>
#include <distribute/saved_model/detail/onnx_graph.hpp>

#include <utility>

namespace distribute::saved_model_internal {

DISTRIBUTE_INLINE OnnxValue onnx_elementwise(OnnxBuilder& b, const std::string& op,
                                             const OnnxAttributes& attributes) {
  bool first = false;
  for (size_t i = 0; i < b.now().inputs.size(); ++i) first |= b.is_channels_first(i);
  OnnxBuilder::Names inputs;
  for (bool fits = false; !fits;) {
    inputs.clear();
    fits = true;
    for (size_t i = 0; i < b.now().inputs.size() && fits; ++i)
      inputs.push_back(b.operand(i, first, fits));
    if (!fits) first = false;
  }
  const std::string name = b.emit(op, inputs, b.now().name, attributes);
  return in_form(first, name);
}

DISTRIBUTE_INLINE OnnxValue onnx_composite(OnnxBuilder& b) {
  const std::string &op = b.now().op, &name = b.now().name;
  const bool first = b.is_channels_first(0);
  bool fits = true;
  const std::string x = b.operand(0, first, fits);
  const auto number = [&](float value) {
    return b.initializer(str_cat(name, "/", value), Tensor(value));
  };
  const auto done = [&](const std::string& last, const OnnxBuilder::Names& inputs) {
    b.emit(last, inputs, name);
    return in_form(first, name);
  };
  if (op == "Square") return done("Mul", {x, x});
  if (op == "Rsqrt") return done("Reciprocal", {b.emit("Sqrt", {x}, name + "/Sqrt")});
  if (op == "Expm1") return done("Sub", {b.emit("Exp", {x}, name + "/Exp"), number(1)});
  if (op == "Log1p") return done("Log", {b.emit("Add", {x, number(1)}, name + "/Add")});
  if (op == "Relu6") return done("Clip", {x, number(0), number(6)});
  if (op == "IsFinite") {
    const std::string nan = b.emit("IsNaN", {x}, name + "/IsNaN");
    const std::string infinite = b.emit("IsInf", {x}, name + "/IsInf");
    return done("Not", {b.emit("Or", {nan, infinite}, name + "/Or")});
  }
  if (op == "NotEqual")
    return {.plain =
                b.emit("Not", {b.emit("Equal", {b.plain(0), b.plain(1)}, name + "/Equal")}, name)};
  throw UnimplementedError(
      str_cat("export_onnx: '", name, "': ONNX has no operation ", op, " for its operands"));
}

DISTRIBUTE_INLINE OnnxValue onnx_divide_no_nan(OnnxBuilder& b) {
  const std::string& name = b.now().name;
  const std::string zero = b.initializer(name + "/zero", Tensor(0.0f));
  const std::string is_zero = b.emit("Equal", {b.plain(1), zero}, name + "/is_zero");
  const std::string quotient = b.emit("Div", {b.plain(0), b.plain(1)}, name + "/quotient");
  return {.plain = b.emit("Where", {is_zero, zero, quotient}, name)};
}

/// ONNX's remainder: of the sign of `a` with `like_c`, else of that of `b`, which floats lack.
DISTRIBUTE_INLINE std::string onnx_remainder(OnnxBuilder& b, const std::string& name, bool like_c) {
  OnnxAttributes attributes;
  if (like_c) attributes.integer("fmod", 1);
  return b.emit("Mod", {b.plain(0), b.plain(1)}, name, attributes);
}

/// ONNX rounds quotients of integers to zero: one less where the two remainders differ.
DISTRIBUTE_INLINE OnnxValue onnx_floor_divide(OnnxBuilder& b) {
  const std::string& name = b.now().name;
  const std::string quotient = b.emit("Div", {b.plain(0), b.plain(1)}, name + "/quotient");
  if (is_floating(b.now().dtype)) return {.plain = b.emit("Floor", {quotient}, name)};
  const std::string truncated = onnx_remainder(b, name + "/truncated", true);
  const std::string floored = onnx_remainder(b, name + "/floored", false);
  const std::string same = b.emit("Equal", {truncated, floored}, name + "/same");
  const std::string differ = b.emit("Not", {same}, name + "/differ");
  const std::string one = b.emit("Cast", {differ}, name + "/one",
                                 OnnxAttributes().integer("to", onnx_type(b.now().dtype)));
  return {.plain = b.emit("Sub", {quotient, one}, name)};
}

/// C's remainder of floats, and the divisor added where it is not 0 and has the other sign.
DISTRIBUTE_INLINE OnnxValue onnx_floor_modulo(OnnxBuilder& b) {
  const std::string& name = b.now().name;
  if (!is_floating(b.now().dtype)) return {.plain = onnx_remainder(b, name, false)};
  const std::string rest = onnx_remainder(b, name + "/truncated", true);
  const std::string zero = b.initializer(name + "/zero", Tensor(0.0f));
  const std::string rest_below = b.emit("Less", {rest, zero}, name + "/rest_below");
  const std::string divisor_below = b.emit("Less", {b.plain(1), zero}, name + "/divisor_below");
  const std::string other_sign = b.emit("Xor", {rest_below, divisor_below}, name + "/other_sign");
  const std::string even = b.emit("Equal", {rest, zero}, name + "/even");
  const std::string uneven = b.emit("Not", {even}, name + "/uneven");
  const std::string adds = b.emit("And", {other_sign, uneven}, name + "/adds");
  const std::string moved = b.emit("Add", {rest, b.plain(1)}, name + "/moved");
  return {.plain = b.emit("Where", {adds, moved, rest}, name)};
}

DISTRIBUTE_INLINE OnnxValue onnx_matmul(OnnxBuilder& b) {
  const bool left = b.flag("transpose_a"), right = b.flag("transpose_b");
  OnnxBuilder::Names inputs{b.plain(0), b.plain(1)};
  if (b.now().inputs.size() == 3) inputs.push_back(b.plain(2));
  if (inputs.size() == 2 && !left && !right)
    return {.plain = b.emit("MatMul", inputs, b.now().name)};
  OnnxAttributes attributes;
  if (left) attributes.integer("transA", 1);
  if (right) attributes.integer("transB", 1);
  return {.plain = b.emit("Gemm", inputs, b.now().name, attributes)};
}

DISTRIBUTE_INLINE OnnxValue onnx_batch_matmul(OnnxBuilder& b) {
  OnnxBuilder::Names inputs;
  for (size_t i = 0; i < 2; ++i) {
    inputs.push_back(b.plain(i));
    if (!b.flag(i ? "adj_y" : "adj_x")) continue;
    Sizes swapped;
    for (size_t axis = 0; axis < b.input(i).shape.size(); ++axis) swapped.push_back(int64_t(axis));
    std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
    inputs[i] = b.emit("Transpose", {inputs[i]}, str_cat(b.now().name, "/transposed_", i),
                       OnnxAttributes().list("perm", swapped));
  }
  return {.plain = b.emit("MatMul", inputs, b.now().name)};
}

}  // namespace distribute::saved_model_internal
