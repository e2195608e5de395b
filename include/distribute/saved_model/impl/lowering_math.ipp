#pragma once
#include <distribute/saved_model/detail/lowering.hpp>

#include <cmath>

namespace distribute::saved_model_internal {

DISTRIBUTE_INLINE int lower_dense(GraphBuilder& b) {
  const Sizes kernel = b.node(b.in(1)).shape;
  const int x = b.rank(b.in(0)) == 2 ? b.in(0) : b.reshape(b.in(0), {-1, kernel[0]});
  std::vector<int> inputs{x, b.in(1)};
  if (b.has(2)) inputs.push_back(b.in(2));
  const int y =
      b.with_epilogue(b.add("MatMul", inputs, {b.node(x).shape[0], kernel[1]}, DType::Float32));
  return b.rank(b.in(0)) == 2 ? y : b.reshape(y, b.op().shape);
}

DISTRIBUTE_INLINE int lower_matmul(GraphBuilder& b) {
  const bool plain = b.rank(b.in(0)) == 2 && b.rank(b.in(1)) == 2;
  GraphBuilder::Attributes attributes;
  if (b.integer("transpose_a")) attributes[plain ? "transpose_a" : "adj_x"] = true;
  if (b.integer("transpose_b")) attributes[plain ? "transpose_b" : "adj_y"] = true;
  return b.add(plain ? "MatMul" : "BatchMatMulV2", {b.in(0), b.in(1)}, b.op().shape, b.dtype(),
               attributes);
}

DISTRIBUTE_INLINE int lower_layer_norm(GraphBuilder& b) {
  Sizes axes, kept = b.op().shape;
  for (int64_t axis = b.integer("begin_axis"); axis < b.rank(b.in(0)); ++axis) {
    axes.push_back(axis);
    kept[size_t(axis)] = 1;
  }
  const auto mean = [&](int x) {
    return b.add("Mean", {x}, kept, DType::Float32, {{"axes", axes}, {"keep_dims", true}});
  };
  const int centred = b.binary("Sub", b.in(0), mean(b.in(0)));
  const int variance =
      b.binary("AddV2", mean(b.unary("Square", centred)), b.number(b.real("epsilon")));
  int y = b.binary("Mul", centred, b.unary("Rsqrt", variance));
  if (b.has(1)) y = b.binary("Mul", y, b.in(1));
  if (b.has(2)) y = b.binary("AddV2", y, b.in(2));
  return y;
}

DISTRIBUTE_INLINE int lower_activation(GraphBuilder& b) {
  const int x = b.in(0);
  if (b.op().name == "silu") return b.binary("Mul", x, b.unary("Sigmoid", x));
  int gate;
  if (b.op().name == "gelu") {
    gate = b.unary("Erf", b.binary("Mul", x, b.number(std::sqrt(0.5))));
  } else {
    const int cube = b.binary("Mul", b.binary("Mul", x, x), b.binary("Mul", x, b.number(0.044715)));
    gate =
        b.unary("Tanh", b.binary("Mul", b.binary("AddV2", x, cube), b.number(std::sqrt(2 / M_PI))));
  }
  return b.binary("Mul", b.binary("Mul", x, b.number(0.5)), b.binary("AddV2", gate, b.number(1)));
}

DISTRIBUTE_INLINE int lower_clip(GraphBuilder& b) {
  return b.binary("Minimum", b.binary("Maximum", b.in(0), b.number(b.real("low"))),
                  b.number(b.real("high")));
}

/// TensorFlow's takes the last axis only.
DISTRIBUTE_INLINE int lower_softmax(GraphBuilder& b, const char* op) {
  const int last = b.rank(b.in(0)) - 1;
  const int64_t axis = b.integer("axis");
  if (axis == last) return b.unary(op, b.in(0));
  Sizes swapped;
  for (int64_t i = 0; i <= last; ++i) swapped.push_back(i == axis ? last : i == last ? axis : i);
  return b.transpose(b.unary(op, b.transpose(b.in(0), swapped)), swapped);
}

}  // namespace distribute::saved_model_internal
