#pragma once
/// What function_cases.py does for a function: its result with dtype, shape and elements, and the
/// gradients of its floating inputs for a loss that tells the elements apart.

#include "cases.hpp"

#include <distribute/ops/array.hpp>

#include <initializer_list>
#include <type_traits>

namespace comparison {

using dist::DType;
using dist::Shape;
using Tensors = std::vector<Tensor>;
using Function = std::function<Tensors(const Tensors& inputs)>;

/// "float32[2] 1 2 | int32 3".
std::string numbers(const Tensors& all);
void print_function(const std::string& name, const Function& function, const Tensors& inputs);

/// Prints the line of a function that gives one tensor or several.
template <typename F>
void of(const std::string& name, F function, const Tensors& inputs = {}) {
  print_function(
      name,
      [&](const Tensors& in) -> Tensors {
        if constexpr (std::is_same_v<decltype(function(in)), Tensor>)
          return {function(in)};
        else
          return function(in);
      },
      inputs);
}

/// The words "bfloat16" and so on, as TensorFlow names dtypes.
std::string dtype_name(DType dtype);
/// "[1, 2]", as Python writes a list.
std::string list(const std::vector<int64_t>& numbers);
inline std::string list(const std::vector<int>& numbers) {
  return list(std::vector<int64_t>(numbers.begin(), numbers.end()));
}

inline Tensor vec(const std::vector<float>& values) {
  return Tensor(Shape{int64_t(values.size())}, values);
}
inline Tensor ints(const std::vector<int32_t>& values) {
  return Tensor(Shape{int64_t(values.size())}, values);
}
inline Tensor longs(const std::vector<int64_t>& values) {
  return Tensor(Shape{int64_t(values.size())}, values);
}
inline Tensor bytes(const std::vector<uint8_t>& values) {
  return Tensor(Shape{int64_t(values.size())}, values);
}
inline Tensor truths(const std::vector<int32_t>& values) { return cast(ints(values), DType::Bool); }
inline Tensor matrix(const Shape& shape, const std::vector<float>& values) {
  return Tensor(shape, values);
}
inline Tensor nothing(const Shape& shape, DType dtype = DType::Float32) {
  return Tensor::empty(shape, dtype);
}
/// 1/8, 2/8, ... [2, 3, 4].
Tensor three();
/// Odd numbers.
Tensor odd();

/// Functions of one tensor and their names.
std::vector<std::pair<std::string, Tensor (*)(const Tensor&)>> unary_functions();

struct Named {  // a tensor and its name
  std::string name;
  Tensor x;
};
inline const std::vector<DType> kFloats{DType::Float32, DType::Float16, DType::BFloat16};
inline const std::vector<DType> kHalves{DType::Float16, DType::BFloat16};

void unary_cases();
void binary_cases();
void choice_cases();
void reduction_function_cases();
void softmax_cases();
void search_cases();
void order_cases();
void index_cases();
void norm_cases();
void shape_function_cases();
void window_cases();
void pool_cases();
void moment_cases();
void product_cases();
void image_cases();
void attention_function_cases();
void second_cases();
void layer_norm_cases();
void scatter_variable_cases();
void function_cases();
void pipeline_cases();

}  // namespace comparison
