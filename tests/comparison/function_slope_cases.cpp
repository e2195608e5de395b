/// Second derivatives, Jacobians, normalization and changes of rows of variables, as
/// function_slope_cases.py prints them.
#include "function_cases.hpp"
#include "layer_cases.hpp"

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/variable.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/ops/reduce.hpp>

#include <limits>
#include <set>

namespace comparison {

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
using OneInput = std::function<Tensor(const Tensor&)>;

/// The slope of the sum of slopes.
Tensor second(const OneInput& f, const Tensor& x) {
  dist::GradientTape outer;
  outer.watch(x);
  Tensor first;
  {
    dist::GradientTape inner;
    inner.watch(x);
    const Tensor y = f(x);
    first = inner.gradient(y, x);
  }
  return first ? outer.gradient(first, x) : Tensor();
}

/// A line without slopes.
void second_of(const std::string& name, const OneInput& f, const Tensor& x) {
  of("second of " + name, [&](const Tensors&) { return second(f, x); });
}

Tensor jacobian(const OneInput& f, const Tensor& x) {
  dist::GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = f(x);
  return tape.jacobian(y, x);
}

}  // namespace

void second_cases() {
  const Tensor plain = vec({0.3f, -0.7f, 1.6f, -2.4f, 3.5f, -3.2f, 0.05f, 6.5f, 12, -12});
  const Tensor special = vec({0, 1, -1, 0.5f, -0.5f, 3, -3, 6, 30, -30});
  const std::set<std::string> positive{"log", "log1p", "sqrt", "rsqrt"};
  for (const auto& [name, f] : unary_functions()) {
    if (name.starts_with("is_")) continue;
    second_of(name, f, positive.contains(name) ? abs(plain) : plain);
    second_of(name + " special", f, special);
  }
  const Tensor x = uniform({2, 3}, 31);
  const Tensor labels = matrix({2, 3}, {0, 1, 0.5f, 1, 0, 1});
  const std::vector<std::pair<std::string, OneInput>> composed{
      {"softmax", [](const Tensor& t) { return nn::softmax(t); }},
      {"logsumexp", [](const Tensor& t) { return reduce_logsumexp(t, {-1}); }},
      {"l2_normalize", [](const Tensor& t) { return nn::l2_normalize(t, {-1}); }},
      {"norm", [](const Tensor& t) { return norm(t, {.axes = {-1}}); }},
      {"variance", [](const Tensor& t) { return reduce_variance(t, {0}); }},
      {"std", [](const Tensor& t) { return reduce_std(t, {0}); }},
      {"prod", [](const Tensor& t) { return reduce_prod(t, {0}); }},
      {"cumsum", [](const Tensor& t) { return cumsum(t); }},
      {"max", [](const Tensor& t) { return reduce_max(t * t, {0}); }},
      {"pow", [](const Tensor& t) { return pow(abs(t), Tensor(2.5f)); }},
      {"divide", [](const Tensor& t) { return t / (t * t + 1.0f); }},
      {"matmul", [](const Tensor& t) { return matmul(t, t, {.transpose_b = true}); }},
      {"sigmoid_cross_entropy",
       [&](const Tensor& t) { return nn::sigmoid_cross_entropy_with_logits(labels, t); }}};
  for (const auto& [name, f] : composed)
    second_of(
        name, [f = f](const Tensor& t) { return pow(f(t), Tensor(3.0f)); }, x);
  const auto line = [&](const std::string& name, const OneInput& f) {
    of("jacobian of " + name, [&](const Tensors&) { return jacobian(f, x); });
  };
  line("softmax", [](const Tensor& t) { return nn::softmax(t); });
  line("sum", [](const Tensor& t) { return reduce_sum(t); });
  line("nothing", [](const Tensor&) { return vec({1}); });
  line("matmul", [](const Tensor& t) { return matmul(t, t, {.transpose_b = true}); });
}

namespace {

void fused_cases(const Tensor& gamma, const Tensor& beta) {
  const auto fused = [](const nn::FusedBatchNormOptions& options) {
    return [=](const Tensors& in) { return nn::fused_batch_norm(in[0], in[1], in[2], options).y; };
  };
  const Tensor x = uniform({2, 3, 2, 4}, 35);
  of("fused_batch_norm", fused({}), {x, gamma, beta});
  of("fused_batch_norm, not training",
     fused({.training = false, .mean = uniform({4}, 36), .variance = abs(uniform({4}, 37))}),
     {x, gamma, beta});
  of("fused_batch_norm epsilon 0.1", fused({.epsilon = 0.1}), {x, gamma, beta});
  const Tensor one({1, 1, 1, 4},
                   std::vector<float>(x.data<float>().begin(), x.data<float>().begin() + 4));
  of("fused_batch_norm of one", fused({}), {one, gamma, beta});
  of("fused_batch_norm of equal", fused({}), {dist::fill({1, 2, 2, 4}, 1.0f), gamma, beta});
}

}  // namespace

void layer_norm_cases() {
  const auto normal = [](const nn::LayerNormOptions& options) {
    return [=](const Tensors& in) {
      return nn::layer_normalization(in[0], in.size() > 1 ? in[1] : Tensor(),
                                     in.size() > 1 ? in[2] : Tensor(), options);
    };
  };
  const Tensor x = uniform({2, 3, 4}, 32), gamma = uniform({4}, 33), beta = uniform({4}, 34);
  const std::string name = "layer_normalization";
  of(name, normal({}), {x, gamma, beta});
  of(name + " plain", normal({}), {x});
  of(name + " of two axes", normal({.epsilon = 1e-5, .begin_axis = 1}), {x});
  of(name + " of equal", normal({}), {dist::fill({2, 3}, 7.0f)});
  of(name + " of 10", normal({}), {matrix({1, 3}, {10, 11, 12.5f})});
  of(name + " of one", normal({}), {matrix({2, 1}, {5, -2})});
  of(name + " nan", normal({}), {matrix({2, 2}, {1, kNan, 1, 2})});
  of(name + " float16", normal({}),
     {cast(matrix({2, 3}, {300, 301, 310, -400, 0, 400}), DType::Float16)});
  of(name + " bfloat16", normal({}),
     {cast(matrix({2, 3}, {300, 302, 310, -400, 0, 400}), DType::BFloat16)});
  fused_cases(gamma, beta);
}

namespace {

using dist::IndexedSlices;
using dist::Variable;
Variable changing() { return Variable(matrix({3, 2}, {1, 2, 4, -8, 0.5f, kNan})); }

using Scatter = const Variable& (Variable::*)(const IndexedSlices&) const;

void scatter_line(const std::string& name, Scatter scatter, const std::vector<int64_t>& rows) {
  std::vector<float> values{2, -1, 4, 3};
  values.resize(rows.size() * 2);
  of(name, [&](const Tensors&) {
    const Variable v = changing();
    (v.*scatter)({Tensor({int64_t(rows.size()), 2}, values), longs(rows), {3, 2}});
    return v.value();
  });
}

using ScatterNd = const Variable& (Variable::*)(const Tensor&, const Tensor&) const;

void scatter_nd_line(const std::string& name, ScatterNd scatter, const Tensor& indices,
                     const Tensor& values) {
  of(name, [&](const Tensors&) {
    const Variable v = changing();
    (v.*scatter)(indices, values);
    return v.value();
  });
}

}  // namespace

void scatter_variable_cases() {
  const std::vector<std::pair<std::string, std::vector<int64_t>>> rows{{"rows", {0, 2}},
                                                                       {"a row twice", {1, 1}},
                                                                       {"no row", {}},
                                                                       {"row 3", {3, 0}},
                                                                       {"row -1", {-1, 0}}};
  const std::vector<std::pair<std::string, Scatter>> all{
      {"sub", &Variable::scatter_sub},      {"add", &Variable::scatter_add},
      {"mul", &Variable::scatter_mul},      {"div", &Variable::scatter_div},
      {"min", &Variable::scatter_min},      {"max", &Variable::scatter_max},
      {"update", &Variable::scatter_update}};
  for (const auto& [op, scatter] : all)
    for (const auto& [text, at] : rows) scatter_line("scatter_" + op + " " + text, scatter, at);
  const std::vector<std::pair<std::string, ScatterNd>> nd{{"sub", &Variable::scatter_nd_sub},
                                                          {"add", &Variable::scatter_nd_add},
                                                          {"min", &Variable::scatter_nd_min},
                                                          {"max", &Variable::scatter_nd_max},
                                                          {"update", &Variable::scatter_nd_update}};
  const Tensor two = matrix({2, 2}, {2, -1, 4, 3});
  for (const auto& [op, scatter] : nd) {
    const std::string name = "scatter_nd_" + op + " ";
    scatter_nd_line(name + "rows", scatter, reshape(ints({0, 2}), {2, 1}), two);
    scatter_nd_line(name + "elements", scatter, reshape(ints({0, 1, 1, 0}), {2, 2}), vec({2, 3}));
    scatter_nd_line(name + "twice", scatter, reshape(ints({1, 1, 1, 1}), {2, 2}), vec({2, 3}));
    scatter_nd_line(name + "out", scatter, reshape(ints({3, 0}), {2, 1}), two);
  }
}

}  // namespace comparison
