#pragma once
#include <distribute/base/error.hpp>
#include <distribute/saved_model/detail/operation_names.hpp>

#include <cctype>
#include <unordered_map>

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
  for (int i = 1; !used_.insert(name).second; ++i) name = str_cat(base, "_", i);
  return name;
}

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
      {"divide_no_nan", "DivNoNan"},
      {"floordiv", "FloorDiv"},
      {"floormod", "FloorMod"},
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

DISTRIBUTE_INLINE std::string onnx_same_operation(const std::string& op) {
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

}  // namespace distribute::saved_model_internal
