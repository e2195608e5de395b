#pragma once
#include <distribute/ops/activation.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/saved_model/detail/math_kernels.hpp>

namespace distribute::saved_model_internal {

using UnaryFunction = Tensor (*)(const Tensor&);
using BinaryFunction = Tensor (*)(const Tensor&, const Tensor&);

DISTRIBUTE_INLINE void add_unary(Kernels& kernels) {
  const std::unordered_map<std::string, UnaryFunction> functions = {{"Neg", negative},
                                                                    {"Abs", abs},
                                                                    {"Square", square},
                                                                    {"Exp", exp},
                                                                    {"Expm1", expm1},
                                                                    {"Log", log},
                                                                    {"Log1p", log1p},
                                                                    {"Sqrt", sqrt},
                                                                    {"Rsqrt", rsqrt},
                                                                    {"Reciprocal", reciprocal},
                                                                    {"Sin", sin},
                                                                    {"Cos", cos},
                                                                    {"Tanh", tanh},
                                                                    {"Sigmoid", sigmoid},
                                                                    {"Erf", erf},
                                                                    {"Floor", floor},
                                                                    {"Ceil", ceil},
                                                                    {"IsNan", is_nan},
                                                                    {"IsInf", is_inf},
                                                                    {"IsFinite", is_finite},
                                                                    {"Round", round},
                                                                    {"Rint", round},
                                                                    {"Sign", sign},
                                                                    {"Relu", nn::relu},
                                                                    {"Relu6", nn::relu6},
                                                                    {"Elu", nn::elu},
                                                                    {"Selu", nn::selu},
                                                                    {"Softplus", nn::softplus},
                                                                    {"Softmax", nn::softmax},
                                                                    {"LogSoftmax", nn::log_softmax},
                                                                    {"LogicalNot", logical_not}};
  for (const auto& [op, function] : functions)
    kernels[op] = [function = function](const KernelCall& c) {
      return std::vector<GraphValue>{function(c.tensor(0))};
    };
}

DISTRIBUTE_INLINE void add_binary(Kernels& kernels) {
  const std::unordered_map<std::string, BinaryFunction> functions = {
      {"Add", add},
      {"AddV2", add},
      {"BiasAdd", add},
      {"Sub", subtract},
      {"Mul", multiply},
      {"RealDiv", divide},
      {"DivNoNan", divide_no_nan},
      {"FloorDiv", floordiv},
      {"FloorMod", floormod},
      {"Maximum", maximum},
      {"Minimum", minimum},
      {"Pow", pow},
      {"SquaredDifference", squared_difference},
      {"Equal", equal},
      {"NotEqual", not_equal},
      {"Less", less},
      {"LessEqual", less_equal},
      {"Greater", greater},
      {"GreaterEqual", greater_equal},
      {"LogicalAnd", logical_and},
      {"LogicalOr", logical_or}};
  for (const auto& [op, function] : functions)
    kernels[op] = [function = function](const KernelCall& c) {
      if (c.text_or("data_format", "NHWC") != "NHWC") c.refuse("data_format is not NHWC");
      return std::vector<GraphValue>{function(c.tensor(0), c.tensor(1))};
    };
}

DISTRIBUTE_INLINE Kernels make_math_kernels() {
  using C = const KernelCall&;
  using Values = std::vector<GraphValue>;
  Kernels kernels;
  add_unary(kernels);
  add_binary(kernels);
  kernels["LeakyRelu"] = [](C c) {
    return Values{nn::leaky_relu(c.tensor(0), c.real_or("alpha", 0.2f))};
  };
  kernels["AddN"] = [](C c) { return Values{add_n(c.tensors(0, c.size()))}; };
  kernels["Cast"] = [](C c) {
    return Values{cast(c.tensor(0), c.dtype_or("DstT", DType::Float32))};
  };
  kernels["ClipByValue"] = [](C c) {
    return Values{minimum(maximum(c.tensor(0), c.tensor(1)), c.tensor(2))};
  };
  kernels["SelectV2"] = [](C c) { return Values{where(c.tensor(0), c.tensor(1), c.tensor(2))}; };
  kernels["MatMul"] = [](C c) {
    return Values{matmul(c.tensor(0), c.tensor(1),
                         {.transpose_a = c.flag_or("transpose_a", false),
                          .transpose_b = c.flag_or("transpose_b", false)})};
  };
  kernels["BatchMatMulV2"] = kernels["BatchMatMul"] = [](C c) {
    return Values{matmul(
        c.tensor(0), c.tensor(1),
        {.transpose_a = c.flag_or("adj_x", false), .transpose_b = c.flag_or("adj_y", false)})};
  };
  kernels["Einsum"] = [](C c) {
    return Values{einsum(c.text_or("equation", ""), c.tensors(0, c.size()))};
  };
  kernels["Cumsum"] = [](C c) {
    return Values{cumsum(
        c.tensor(0), int(c.integer(1)),
        {.exclusive = c.flag_or("exclusive", false), .reverse = c.flag_or("reverse", false)})};
  };
  return kernels;
}

DISTRIBUTE_INLINE const Kernels& math_kernels() {
  static const Kernels kernels = make_math_kernels();
  return kernels;
}

}  // namespace distribute::saved_model_internal
