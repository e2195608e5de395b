/// Reductions, cumulative functions, softmax and cross entropies, as function_cases.py prints them.
#include "function_cases.hpp"

#include <distribute/ops/activation.hpp>
#include <distribute/ops/reduce.hpp>

#include <limits>

namespace comparison {

namespace {

namespace nn = dist::nn;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<Named> reduced() {
  return {{"rows", matrix({2, 3}, {1, 2, 2, 4, 0, -1})},
          {"three", three()},
          {"nan", matrix({2, 3}, {1, kNan, 2, kInf, 0, -1})},
          {"infinite", matrix({4, 2}, {kInf, -kInf, kInf, kInf, -kInf, -kInf, -kInf, 1})},
          {"ties", matrix({2, 3}, {2, 2, 1, 2, 0, 0})},
          {"zeros", matrix({2, 3}, {0, 0, 3, 0, 2, 3})},
          {"equal", matrix({2, 3}, {0.1f, 0.1f, 0.1f, 3, 3, 3})},
          {"one", matrix({2, 1}, {3, -2})},
          {"scalar", Tensor(2.5f)},
          {"empty", nothing({0, 3})},
          {"no columns", nothing({2, 0})},
          {"large", matrix({3, 2}, {1000, 1000.5f, -1000, -1001, 88.9f, 89})},
          {"int32", Tensor({2, 3}, std::vector<int32_t>{7, -2, 2, -4, 0, -2})},
          {"int32 ends", Tensor({2, 2}, std::vector<int32_t>{2147483647, 1, -2147483647 - 1, -1})},
          {"int64", Tensor({2, 3}, std::vector<int64_t>{7, -2, 2, -4, 0, -2})},
          {"uint8", Tensor({2, 3}, std::vector<uint8_t>{200, 100, 3, 0, 1, 255})},
          {"bool", reshape(truths({1, 0, 1, 1}), {2, 2})},
          {"empty bool", nothing({0, 2}, DType::Bool)}};
}

Tensor reduced(const std::string& name) {
  for (const auto& one : reduced())
    if (one.name == name) return one.x;
  return {};
}

using Reduction = Tensor (*)(const Tensor&, const std::vector<int>&, bool);

void one_reduction(const std::string& name, Reduction f) {
  const auto over = [f](const std::vector<int>& axes, bool keepdims = false) {
    return [=](const Tensors& in) { return f(in[0], axes, keepdims); };
  };
  for (const auto& [text, x] : reduced()) {
    of(name + " " + text + " axis all", over({}), {x});
    if (x.shape().rank() == 0) continue;
    of(name + " " + text + " axis 0", over({0}), {x});
    of(name + " " + text + " axis -1", over({-1}), {x});
  }
  of(name + " keepdims", over({0, -1}, true), {three()});
  of(name + " middle", over({1}), {three()});
  of(name + " axis 2 of 2", over({2}), {reduced("rows")});
  of(name + " axis twice", over({0, 0}), {reduced("rows")});
  std::vector<float> large;
  for (const float one : {60000.0f, 60000.0f, 1.0f, 2048.0f, 0.25f})
    large.insert(large.end(), 3, one);
  for (const DType dtype : kHalves) {
    of(name + " " + dtype_name(dtype), over({0}), {cast(three(), dtype)});
    of(name + " " + dtype_name(dtype) + " large", over({0}), {cast(matrix({5, 3}, large), dtype)});
  }
}

using Cumulative = Tensor (*)(const Tensor&, int, dist::CumulativeOptions);

void cumulative_cases(const std::string& name, Cumulative f) {
  const auto bools = [](bool value) { return value ? " True" : " False"; };
  for (const char* text :
       {"three", "nan", "infinite", "zeros", "empty", "int32 ends", "uint8", "bool", "scalar"})
    for (const int axis : {0, -1})
      for (const bool exclusive : {false, true})
        for (const bool reverse : {false, true})
          of(name + " " + text + " " + std::to_string(axis) + bools(exclusive) + bools(reverse),
             [=](const Tensors& in) {
               return f(in[0], axis, {.exclusive = exclusive, .reverse = reverse});
             },
             {reduced(text)});
  of(name + " of axis 5", [f](const Tensors& in) { return f(in[0], 5, {}); }, {three()});
  for (const DType dtype : kHalves)
    of(name + " " + dtype_name(dtype), [f](const Tensors& in) { return f(in[0], 0, {}); },
       {cast(three(), dtype)});
}

}  // namespace

void reduction_function_cases() {
  const std::vector<std::pair<const char*, Reduction>> all{
      {"reduce_sum", dist::reduce_sum},           {"reduce_mean", dist::reduce_mean},
      {"reduce_prod", dist::reduce_prod},         {"reduce_max", dist::reduce_max},
      {"reduce_min", dist::reduce_min},           {"reduce_any", dist::reduce_any},
      {"reduce_all", dist::reduce_all},           {"reduce_logsumexp", dist::reduce_logsumexp},
      {"reduce_variance", dist::reduce_variance}, {"reduce_std", dist::reduce_std}};
  for (const auto& [name, f] : all) one_reduction(name, f);
  cumulative_cases("cumsum", dist::cumsum);
  cumulative_cases("cumprod", dist::cumprod);
}

namespace {

std::vector<Named> scores() {
  return {{"rows", matrix({2, 3}, {1, 2, 3, 0, 0, -1})},
          {"minus infinity", matrix({2, 3}, {-kInf, 0, 1, -kInf, -kInf, 2})},
          {"all minus infinity", matrix({2, 2}, {-kInf, -kInf, 0, 1})},
          {"infinity", matrix({2, 2}, {kInf, 0, 1, 2})},
          {"nan", matrix({2, 2}, {kNan, 0, 1, 2})},
          {"large", matrix({2, 3}, {1000, 1001, 0, -1000, -1001, -1e30f})},
          {"one", matrix({2, 1}, {3, 4})},
          {"empty", nothing({0, 3})},
          {"no classes", nothing({2, 0})},
          {"vector", vec({1, 2, 4})},
          {"three", three()},
          {"int32", Tensor({1, 2}, std::vector<int32_t>{1, 2})},
          {"scalar", Tensor(1.0f)}};
}

Tensor scores(const std::string& name) {
  for (const auto& one : scores())
    if (one.name == name) return one.x;
  return {};
}

void one_softmax(const std::string& name, Tensor (*f)(const Tensor&, int)) {
  const auto along = [f](int axis) { return [=](const Tensors& in) { return f(in[0], axis); }; };
  for (const auto& [text, x] : scores()) {
    of(name + " " + text, along(-1), {x});
    of(name + " " + text + " axis 0", along(0), {x});
  }
  of(name + " axis 1", along(1), {three()});
  of(name + " axis -2", along(-2), {three()});
  of(name + " axis 3", along(3), {three()});
  for (const DType dtype : kHalves)
    for (const char* text : {"rows", "large", "minus infinity"})
      of(name + " " + text + " " + dtype_name(dtype), along(-1), {cast(scores(text), dtype)});
}

void dense_label_cases() {
  const std::string name = "softmax_cross_entropy ";
  const std::vector<Named> labels{{"one", matrix({2, 3}, {0, 0, 1, 1, 0, 0})},
                                  {"soft", matrix({2, 3}, {0.2f, 0.3f, 0.5f, 0, 0.5f, 0.5f})}};
  for (const char* text : {"rows", "large"})
    for (const auto& [kind, label] : labels)
      for (const DType dtype : kFloats)
        of(name + text + " " + kind + " " + dtype_name(dtype),
           [](const Tensors& in) { return nn::softmax_cross_entropy_with_logits(in[1], in[0]); },
           {cast(scores(text), dtype), cast(label, dtype)});
  const auto of_labels = [](const Tensor& label) {
    return [=](const Tensors& in) { return nn::softmax_cross_entropy_with_logits(label, in[0]); };
  };
  const Tensor two = matrix({2, 2}, {1, 0, 0, 1});
  of(name + "of labels without axis", of_labels(vec({0, 0, 1})), {scores("rows")});
  of(name + "[1][3] labels", of_labels(matrix({1, 3}, {0, 0, 1})), {scores("rows")});
  of(name + "infinity", of_labels(two), {scores("infinity")});
  of(name + "nan", of_labels(two), {scores("nan")});
  of(name + "empty", of_labels(nothing({0, 3})), {scores("empty")});
}

void sparse_label_cases() {
  const std::string name = "sparse_softmax_cross_entropy ";
  const auto of_labels = [](const Tensor& label) {
    return [=](const Tensors& in) {
      return nn::sparse_softmax_cross_entropy_with_logits(label, in[0]);
    };
  };
  const std::vector<Named> labels{
      {"rows", ints({2, 0})},
      {"large", ints({0, 1})},
      {"minus infinity", ints({2, 0})},
      {"infinity", ints({0, 1})},
      {"nan", ints({0, 1})},
      {"one", ints({0, 0})},
      {"empty", nothing({0}, DType::Int32)},
      {"vector", Tensor(int32_t(1))},
      {"three", Tensor({2, 3}, std::vector<int32_t>{0, 1, 2, 3, 0, 1})}};
  for (const auto& [text, label] : labels)
    for (const DType dtype : {DType::Int32, DType::Int64})
      of(name + text + " " + dtype_name(dtype), of_labels(cast(label, dtype)), {scores(text)});
  for (const int label : {3, -1})
    of(name + "label " + std::to_string(label), of_labels(ints({0, label})), {scores("rows")});
  of(name + "of shapes", of_labels(reshape(ints({0, 1}), {2, 1})), {scores("rows")});
  for (const DType dtype : kHalves)
    of(name + dtype_name(dtype), of_labels(ints({2, 0})), {cast(scores("rows"), dtype)});
}

}  // namespace

void softmax_cases() {
  one_softmax("softmax", nn::softmax);
  one_softmax("log_softmax", nn::log_softmax);
  one_softmax("glu", nn::glu);
  one_softmax("sparsemax", nn::sparsemax);
  of("sparsemax of near numbers", [](const Tensors& in) { return nn::sparsemax(in[0]); },
     {matrix({3, 3}, {0.5f, 0.4f, 0.1f, 0.2f, 0.1f, 0.3f, 0.9f, 0.2f, 0.1f})});
  dense_label_cases();
  sparse_label_cases();
  std::vector<float> label;
  for (int i = 0; i < 5; ++i)
    for (const float one : {0.0f, 1.0f, 0.3f, -2.0f, 1.0f}) label.push_back(one);
  for (const DType dtype : kFloats)
    of("sigmoid_cross_entropy " + dtype_name(dtype),
       [](const Tensors& in) { return nn::sigmoid_cross_entropy_with_logits(in[1], in[0]); },
       {cast(odd(), dtype), cast(vec(label), dtype)});
  of("sigmoid_cross_entropy of shapes",
     [](const Tensors& in) {
       return nn::sigmoid_cross_entropy_with_logits(matrix({2, 1}, {1, 0}), in[0]);
     },
     {scores("rows")});
}

}  // namespace comparison
