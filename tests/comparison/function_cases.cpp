/// Functions of single elements and pairs of them, as function_cases.py prints them.
#include "function_cases.hpp"

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/math.hpp>

#include <cmath>
#include <cstdio>
#include <limits>

namespace comparison {

namespace {

namespace nn = dist::nn;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <typename T>
std::string words(const Tensor& x, const char* format) {
  std::string text;
  char number[40];
  for (const T value : x.data<T>()) {
    if constexpr (std::is_same_v<T, float>)
      std::snprintf(number, sizeof number, format, double(value));
    else
      std::snprintf(number, sizeof number, format, (long long)(value));
    text += number;
  }
  return text;
}

std::string one_tensor(const Tensor& x) {
  if (!x) return "none";
  std::string text = dtype_name(x.dtype());
  for (int axis = 0; axis < x.shape().rank(); ++axis)
    text += "[" + std::to_string(x.shape()[axis]) + "]";
  if (dist::is_floating(x.dtype())) return text + words<float>(cast(x, DType::Float32), " %.7g");
  return text + words<int64_t>(cast(x, DType::Int64), " %lld");
}

/// 1, 2, 3, 1, ... in the shape of y.
Tensor weights(const Tensor& y) {
  std::vector<float> values(size_t(y.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(1 + i % 3);
  return cast(Tensor(y.shape(), values), y.dtype());
}

Tensors floating_of(const Tensors& all) {
  Tensors found;
  for (const auto& x : all)
    if (x && dist::is_floating(x.dtype())) found.push_back(x);
  return found;
}

std::string slopes(dist::GradientTape& tape, const Tensors& targets, const Tensors& sources) {
  Tensors of_outputs;
  for (const auto& y : targets) of_outputs.push_back(weights(y));
  try {
    return numbers(tape.gradient(targets, sources, {.output_gradients = of_outputs}));
  } catch (const dist::Error&) {
    return "error";
  }
}

std::vector<Named> dtypes() {
  std::vector<Named> all;
  for (const DType dtype : kFloats) all.push_back({dtype_name(dtype), cast(odd(), dtype)});
  const std::vector<int32_t> small{0, 1, -1, 2, -2, 3, -3, 7, -7};
  std::vector<int32_t> numbers = small;
  numbers.insert(numbers.end(), {2147483647, -2147483647 - 1});
  std::vector<int64_t> wide(small.begin(), small.end());
  wide.insert(wide.end(), {3000000000, -3000000000});
  all.push_back({"int32", ints(numbers)});
  all.push_back({"int64", longs(wide)});
  all.push_back({"uint8", bytes({0, 1, 2, 3, 7, 128, 255})});
  all.push_back({"bool", truths({0, 1})});
  all.push_back({"empty", nothing({0, 3})});
  return all;
}

using Unary = Tensor (*)(const Tensor&);
const std::vector<std::pair<const char*, Unary>> kUnary{
    {"exp", dist::exp},
    {"expm1", dist::expm1},
    {"log", dist::log},
    {"log1p", dist::log1p},
    {"sqrt", dist::sqrt},
    {"rsqrt", dist::rsqrt},
    {"reciprocal", dist::reciprocal},
    {"square", dist::square},
    {"abs", dist::abs},
    {"sign", dist::sign},
    {"negative", dist::negative},
    {"sin", dist::sin},
    {"cos", dist::cos},
    {"tanh", dist::tanh},
    {"sigmoid", dist::sigmoid},
    {"erf", dist::erf},
    {"floor", dist::floor},
    {"ceil", dist::ceil},
    {"round", dist::round},
    {"is_nan", dist::is_nan},
    {"is_inf", dist::is_inf},
    {"is_finite", dist::is_finite},
    {"nn relu", nn::relu},
    {"nn relu6", nn::relu6},
    {"nn leaky_relu", nn::leaky_relu},
    {"nn elu", nn::elu},
    {"nn selu", nn::selu},
    {"nn gelu", nn::gelu},
    {"nn softplus", nn::softplus},
    {"nn silu", nn::silu},
    {"nn gelu approximate", nn::gelu_approximate},
    {"nn leaky_relu 0.3", [](const Tensor& x) { return nn::leaky_relu(x, 0.3f); }},
    {"keras relu", nn::relu},
    {"keras relu6", nn::relu6},
    {"keras elu", nn::elu},
    {"keras selu", nn::selu},
    {"keras gelu", nn::gelu},
    {"keras softplus", nn::softplus},
    {"keras silu", nn::silu},
    {"keras sigmoid", nn::sigmoid},
    {"keras tanh", nn::tanh},
    {"keras linear", nn::linear},
    {"keras hard_sigmoid", nn::hard_sigmoid},
    {"keras hard_silu", nn::hard_silu},
    {"keras mish", nn::mish},
    {"keras softsign", nn::softsign},
    {"keras exponential", nn::exponential},
    {"keras celu", nn::celu},
    {"keras hard_tanh", nn::hard_tanh},
    {"keras tanh_shrink", nn::tanh_shrink},
    {"keras soft_shrink", nn::soft_shrink},
    {"keras hard_shrink", nn::hard_shrink},
    {"keras log_sigmoid", nn::log_sigmoid},
    {"keras squareplus", nn::squareplus},
    {"keras sparse_sigmoid", nn::sparse_sigmoid},
    {"keras sparse_plus", nn::sparse_plus},
    {"keras elu 0.3", [](const Tensor& x) { return nn::elu(x, 0.3); }},
    {"keras celu 0.5", [](const Tensor& x) { return nn::celu(x, 0.5); }},
    {"keras celu 2", [](const Tensor& x) { return nn::celu(x, 2); }},
    {"keras soft_shrink 1", [](const Tensor& x) { return nn::soft_shrink(x, 1); }},
    {"keras soft_shrink -0.5", [](const Tensor& x) { return nn::soft_shrink(x, -0.5); }},
    {"keras hard_shrink 1", [](const Tensor& x) { return nn::hard_shrink(x, 1); }},
    {"keras hard_shrink -0.5", [](const Tensor& x) { return nn::hard_shrink(x, -0.5); }},
    {"keras squareplus 0", [](const Tensor& x) { return nn::squareplus(x, 0); }},
    {"keras squareplus 0.5", [](const Tensor& x) { return nn::squareplus(x, 0.5); }},
    {"keras threshold 0.5 -2", [](const Tensor& x) { return nn::threshold(x, 0.5, -2); }},
    {"keras threshold -1 3", [](const Tensor& x) { return nn::threshold(x, -1, 3); }},
    {"keras threshold 1 0.5", [](const Tensor& x) { return nn::threshold(x, 1, 0.5); }},
};

using Binary = Tensor (*)(const Tensor&, const Tensor&);
const std::vector<std::pair<std::string, Binary>> kBinary{
    {"add", dist::add},
    {"subtract", dist::subtract},
    {"multiply", dist::multiply},
    {"divide", dist::divide},
    {"divide_no_nan", dist::divide_no_nan},
    {"floordiv", dist::floordiv},
    {"floormod", dist::floormod},
    {"maximum", dist::maximum},
    {"minimum", dist::minimum},
    {"pow", dist::pow},
    {"squared_difference", dist::squared_difference},
    {"equal", dist::equal},
    {"not_equal", dist::not_equal},
    {"less", dist::less},
    {"less_equal", dist::less_equal},
    {"greater", dist::greater},
    {"greater_equal", dist::greater_equal},
};

/// All pairs of numbers for which `fits` holds.
template <typename T, typename Fits>
Tensors pairs(const std::vector<T>& x, Fits fits) {
  std::vector<T> a, b;
  for (const T first : x)
    for (const T second : x)
      if (fits(second)) a.push_back(first), b.push_back(second);
  const Shape shape{int64_t(a.size())};
  return {Tensor(shape, a), Tensor(shape, b)};
}

template <typename T>
Tensors integer_pairs(const std::string& name, const std::vector<T>& x) {
  const bool divides = name == "floordiv" || name == "floormod" || name == "divide_no_nan";
  return pairs<T>(x, [&](T b) {
    if (name == "pow") return int64_t(b) >= 0 && int64_t(b) < 4;
    return !divides || b != 0;
  });
}

void pairs_of_dtypes(const std::string& name, const Function& f) {
  const std::vector<float> some{kNan, kInf, -kInf, 0, -0.0f, 1, -1, 0.5f, -2.5f, 3, -3, 1e30f, 2};
  for (const DType dtype : kFloats) {
    const auto all = pairs<float>(some, [](float) { return true; });
    of(name + " " + dtype_name(dtype), f, {cast(all[0], dtype), cast(all[1], dtype)});
  }
  of(name + " int32", f, integer_pairs<int32_t>(name, {0, 1, -1, 2, -2, 3, -3, 7, -7}));
  of(name + " int64", f, integer_pairs<int64_t>(name, {0, 1, -1, 2, -2, 3, -3, 7, -7}));
  of(name + " uint8", f, integer_pairs<uint8_t>(name, {0, 1, 2, 3, 7, 128, 255}));
}

}  // namespace

std::string numbers(const Tensors& all) {
  std::string text;
  for (const auto& x : all) text += (text.empty() ? "" : " | ") + one_tensor(x);
  return text;
}

std::string dtype_name(DType dtype) {
  switch (dtype) {
    case DType::Float32: return "float32";
    case DType::Float16: return "float16";
    case DType::BFloat16: return "bfloat16";
    case DType::Int32: return "int32";
    case DType::Int64: return "int64";
    case DType::UInt8: return "uint8";
    case DType::Bool: return "bool";
  }
  return "";
}

std::string list(const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t one : numbers) text += (text.empty() ? "" : ", ") + std::to_string(one);
  return "[" + text + "]";
}

Tensor three() {
  std::vector<float> values;
  for (int i = 1; i <= 24; ++i) values.push_back(float(i) / 8);
  return Tensor({2, 3, 4}, values);
}

Tensor odd() {
  return vec({kNan,  kInf,   -kInf, 0,    -0.0f, 1,   -1, 0.5f, -0.5f, 1.5f, 2.5f,  -2.5f, 1e-30f,
              1e30f, -1e30f, 100,   -100, 20,    -20, 6,  3,    -3,    0.2f, 1e-4f, -1e-4f});
}

void print_function(const std::string& name, const Function& function, const Tensors& inputs) {
  print_case("functions/" + name, [&] {
    const Tensors sources = floating_of(inputs);
    dist::GradientTape tape;
    for (const auto& x : sources) tape.watch(x);
    const Tensors values = function(inputs);
    const Tensors targets = floating_of(values);
    const std::string text = numbers(values);
    return sources.empty() || targets.empty() ? text
                                              : text + " slope " + slopes(tape, targets, sources);
  });
}

std::vector<std::pair<std::string, Tensor (*)(const Tensor&)>> unary_functions() {
  return {kUnary.begin(), kUnary.end()};
}

void unary_cases() {
  for (const auto& [name, f] : kUnary)
    for (const auto& [dtype, x] : dtypes())
      of(std::string(name) + " " + dtype, [f = f](const Tensors& in) { return f(in[0]); }, {x});
}

void binary_cases() {
  for (const auto& [name, function] : kBinary) {
    const Function f = [function = function](const Tensors& in) -> Tensors {
      return {function(in[0], in[1])};
    };
    pairs_of_dtypes(name, f);
    of(name + " int32 ends", f, {ints({2147483647, -2147483647 - 1, 65536}), ints({2, 2, 3})});
    of(name + " int32 of 0", f, {ints({1, 2}), ints({0, 2})});
    of(name + " int32 of -1", f, {ints({2, 3}), ints({-1, -2})});
    of(name + " bool", f, {truths({0, 1, 0, 1}), truths({0, 0, 1, 1})});
    of(name + " of two dtypes", f, {vec({1, 2}), ints({1, 2})});
    of(name + " [2][1] [3]", f, {matrix({2, 1}, {1, 2}), vec({1, 2, 3})});
    of(name + " [3] []", f, {vec({1, 2, 3}), Tensor(2.0f)});
    of(name + " [0][3] [1][3]", f, {nothing({0, 3}), matrix({1, 3}, {1, 2, 3})});
    of(name + " [2] [3]", f, {vec({1, 2}), vec({1, 2, 3})});
  }
  const std::vector<std::pair<std::string, Binary>> logical{{"logical_and", dist::logical_and},
                                                            {"logical_or", dist::logical_or},
                                                            {"logical_xor", dist::logical_xor}};
  for (const auto& [name, function] : logical) {
    const auto f = [function = function](const Tensors& in) { return function(in[0], in[1]); };
    of(name, f, {truths({0, 1, 0, 1}), truths({0, 0, 1, 1})});
    of(name + " of integers", f, {ints({0, 1}), ints({1, 1})});
  }
  of("logical_not", [](const Tensors& in) { return logical_not(in[0]); }, {truths({0, 1, 0, 1})});
}

namespace {

void where_cases() {
  const Tensor c = truths({1, 0, 1}), x = vec({kNan, 2, 3});
  const auto choose = [](const Tensor& condition) {
    return [condition](const Tensors& in) { return where(condition, in[0], in[1]); };
  };
  of("where", choose(c), {x, vec({4, kNan, kInf})});
  of("where [2][1] [3] []", choose(reshape(truths({1, 0}), {2, 1})), {x, Tensor(7.0f)});
  of("where of integers", choose(c), {ints({1, 2, 3}), ints({4, 5, 6})});
  of("where of two dtypes", choose(c), {ints({1, 2, 3}), vec({4, 5, 6})});
  of("where of integers as condition", choose(ints({1, 0, 2})), {x, x});
  const auto sum = [](const Tensors& in) { return dist::add_n(in); };
  of("add_n", sum, {x, vec({1, 1, 1}), vec({kInf, 0, -1})});
  of("add_n of one", sum, {x});
  of("add_n of shapes", sum, {x, vec({1})});
  of("add_n of uint8", sum, {bytes({200, 1}), bytes({100, 1})});
}

void clip_cases() {
  const auto clip = [](float low, float high) {
    return [low, high](const Tensors& in) { return clip_by_value(in[0], low, high); };
  };
  for (const DType dtype : kFloats)
    of("clip_by_value " + dtype_name(dtype), clip(-1, 2.5f), {cast(odd(), dtype)});
  of("clip_by_value equal limits", clip(1, 1), {odd()});
  of("clip_by_value min above max", clip(2, -1), {odd()});
  of("clip_by_value int32", clip(-2, 3), {dtypes()[3].x});
  of("clip_by_value uint8", clip(2, 128), {dtypes()[5].x});
  of("clip_by_value nan", clip(kNan, 1), {vec({0, 1, 2})});
  of("clip_by_value to infinity", clip(-kInf, kInf), {odd()});
}

}  // namespace

void choice_cases() {
  where_cases();
  clip_cases();
  auto sources = dtypes();
  sources.push_back({"ordinary", vec({0, -0.0f, 1.5f, -1.5f, 2.99f, -2.99f, 127.5f, 254.9f, 100})});
  for (const auto& [source, x] : sources)
    for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16, DType::Int32,
                              DType::Int64, DType::UInt8, DType::Bool})
      of("cast " + source + " to " + dtype_name(dtype),
         [dtype](const Tensors& in) { return cast(in[0], dtype); }, {x});
}

void function_cases() {
  for (auto* cases :
       {unary_cases, binary_cases, choice_cases, reduction_function_cases, softmax_cases,
        search_cases, order_cases, index_cases, norm_cases, shape_function_cases, window_cases,
        pool_cases, moment_cases, product_cases, image_cases, attention_function_cases,
        second_cases, layer_norm_cases, scatter_variable_cases})
    cases();
}

}  // namespace comparison
