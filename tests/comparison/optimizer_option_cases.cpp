/// Options of optimizers, schedules, constraints, penalties and initializers, as
/// optimizer_option_cases.py prints them.
#include "option_cases.hpp"

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/initializers.hpp>
#include <distribute/nn/regularizers.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/lamb.hpp>
#include <distribute/optim/schedules.hpp>
#include <distribute/optim/sgd.hpp>

#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>

namespace comparison {

namespace {

namespace optim = dist::optim;
using dist::Variable;
using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>()>;

template <typename Function>
void check(const std::string& name, Function function) {
  run_case("options of the update/" + name, function);
}

std::string figure(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

constexpr int kSteps = 5;

void step_table(optim::Optimizer& optimizer, const Variable& table, int step) {
  const std::vector<int32_t> ids =
      step % 2 == 0 ? std::vector<int32_t>{2, 0, 2, 3} : std::vector<int32_t>{0};
  const int64_t count = int64_t(ids.size());
  dist::GradientTape tape;
  const Tensor rows = nn::embedding_lookup(table, Tensor({count}, ids));
  const Tensor loss = reduce_sum(rows * uniform({count, 2}, uint64_t(step + 50)));
  optimizer.apply_gradients({tape.gradient(loss, table)}, {table});
}

std::string trained(const MakeOptimizer& make, const std::string& kind, bool averages = false) {
  const auto optimizer = make();
  std::vector<Variable> weights;
  if (kind == "sparse")
    weights = {Variable(uniform({4, 2}, 5), {.name = "table"})};
  else
    weights = {Variable(uniform({3, 2}, 3), {.name = "kernel"}),
               Variable(uniform({2}, 4), {.name = "bias"})};
  optimizer->build(weights);
  for (int step = 0; step < kSteps; ++step) {
    if (kind == "sparse") {
      step_table(*optimizer, weights[0], step);
      continue;
    }
    const uint64_t seed = 10 * uint64_t(step);
    std::vector<Tensor> gradients{uniform({3, 2}, seed + 1) * 2.0f, uniform({2}, seed + 2) * 2.0f};
    if (kind == "none" && step % 2 == 1) gradients[0] = Tensor();
    optimizer->apply_gradients(gradients, weights);
  }
  std::string text;
  const auto add = [&](const char* name) {
    for (const Variable& weight : weights)
      text += (text.empty() ? "" : " | ") + sums(name, weight.value());
  };
  add("weight");
  text += str_cat(" | ", optimizer->iterations());
  if (averages) {
    optimizer->finalize_variable_values(weights);
    add("average");
  }
  return text;
}

template <typename Options>
using Change = std::function<void(Options&)>;

template <typename Options>
std::vector<std::pair<std::string, Change<Options>>> common_changes() {
  using O = Options;
  return {{"defaults", [](O&) {}},
          {"weight_decay", [](O& o) { o.weight_decay = 0.1; }},
          {"weight_decay 0", [](O& o) { o.weight_decay = 0.0; }},
          {"clipnorm", [](O& o) { o.clipnorm = 0.5; }},
          {"clipvalue", [](O& o) { o.clipvalue = 0.3; }},
          {"global_clipnorm", [](O& o) { o.global_clipnorm = 0.5; }},
          {"use_ema", [](O& o) { o.use_ema = true, o.ema_momentum = 0.5; }},
          {"ema_overwrite_frequency",
           [](O& o) { o.use_ema = true, o.ema_momentum = 0.5, o.ema_overwrite_frequency = 2; }},
          {"schedule",
           [](O& o) {
             o.learning_rate = optim::ExponentialDecay{0.2, 2, 0.5};
           }},
          {"weight_decay and clipnorm", [](O& o) { o.weight_decay = 0.1, o.clipnorm = 0.5; }},
          {"weight_decay and averages", [](O& o) { o.weight_decay = 0.1, o.use_ema = true; }},
          {"two clips", [](O& o) { o.clipnorm = 0.5, o.clipvalue = 0.3; }},
          {"clipnorm 0", [](O& o) { o.clipnorm = 0.0; }}};
}

template <typename O, typename Options>
void optimizer_cases_of(const std::string& name,
                        const std::vector<std::pair<std::string, Change<Options>>>& own) {
  auto all = common_changes<Options>();
  all.insert(all.end(), own.begin(), own.end());
  for (const auto& [text, change] : all) {
    const MakeOptimizer make = [change = change] {
      Options options;
      options.learning_rate = 0.1;
      change(options);
      return std::make_unique<O>(options);
    };
    Options changed;
    change(changed);
    for (const char* kind : {"dense", "sparse", "none"})
      check(str_cat(name, " ", text, ", ", kind),
            [&] { return trained(make, kind, changed.use_ema); });
  }
  check(name + " default rate",
        [] { return trained([] { return std::make_unique<O>(); }, "dense"); });
  check(name + " excluded bias", [] {
    const MakeOptimizer make = [] {
      Options options;
      options.learning_rate = 0.1, options.weight_decay = 0.1;
      auto optimizer = std::make_unique<O>(options);
      optimizer->exclude_from_weight_decay(std::vector<std::string>{"bias"});
      return optimizer;
    };
    return trained(make, "dense");
  });
}

template <typename O>
Change<O> betas() {
  return [](O& o) { o.beta_1 = 0.5, o.beta_2 = 0.7; };
}
template <typename O>
Change<O> epsilon() {
  return [](O& o) { o.epsilon = 0.1; };
}

void sgd_and_adam_cases() {
  using S = optim::SGDOptions;
  optimizer_cases_of<optim::SGD, S>(
      "SGD", {{"momentum", [](S& o) { o.momentum = 0.9; }},
              {"nesterov", [](S& o) { o.momentum = 0.9, o.nesterov = true; }},
              {"nesterov alone", [](S& o) { o.nesterov = true; }},
              {"momentum 1", [](S& o) { o.momentum = 1; }},
              {"momentum -1", [](S& o) { o.momentum = -1; }},
              {"momentum 2", [](S& o) { o.momentum = 2; }},
              {"momentum and decay", [](S& o) { o.momentum = 0.5, o.weight_decay = 0.1; }}});
  using A = optim::AdamOptions;
  optimizer_cases_of<optim::Adam, A>(
      "Adam", {{"amsgrad", [](A& o) { o.amsgrad = true; }},
               {"betas", betas<A>()},
               {"epsilon", epsilon<A>()},
               {"beta_1 0", [](A& o) { o.beta_1 = 0; }},
               {"amsgrad and decay", [](A& o) { o.amsgrad = true, o.weight_decay = 0.1; }}});
  using W = optim::AdamWOptions;
  optimizer_cases_of<optim::AdamW, W>("AdamW", {{"amsgrad", [](W& o) { o.amsgrad = true; }},
                                                {"betas", betas<W>()},
                                                {"epsilon", epsilon<W>()}});
  using X = optim::AdamaxOptions;
  optimizer_cases_of<optim::Adamax, X>("Adamax",
                                       {{"betas", betas<X>()}, {"epsilon", epsilon<X>()}});
  using N = optim::NadamOptions;
  optimizer_cases_of<optim::Nadam, N>("Nadam", {{"betas", betas<N>()}, {"epsilon", epsilon<N>()}});
}

void history_optimizer_cases() {
  using G = optim::AdagradOptions;
  optimizer_cases_of<optim::Adagrad, G>(
      "Adagrad", {{"initial", [](G& o) { o.initial_accumulator_value = 0.5; }},
                  {"initial 0", [](G& o) { o.initial_accumulator_value = 0; }},
                  {"epsilon", epsilon<G>()}});
  using D = optim::AdadeltaOptions;
  optimizer_cases_of<optim::Adadelta, D>(
      "Adadelta", {{"rho", [](D& o) { o.rho = 0.5; }}, {"epsilon", epsilon<D>()}});
  using R = optim::RMSpropOptions;
  optimizer_cases_of<optim::RMSprop, R>(
      "RMSprop", {{"rho", [](R& o) { o.rho = 0.5; }},
                  {"momentum", [](R& o) { o.momentum = 0.9; }},
                  {"centered", [](R& o) { o.centered = true; }},
                  {"centered, momentum", [](R& o) { o.centered = true, o.momentum = 0.5; }},
                  {"epsilon", epsilon<R>()}});
}

void other_optimizer_cases() {
  using B = optim::LambOptions;
  optimizer_cases_of<optim::Lamb, B>("Lamb", {{"betas", betas<B>()}, {"epsilon", epsilon<B>()}});
  using L = optim::LionOptions;
  optimizer_cases_of<optim::Lion, L>("Lion", {{"betas", betas<L>()},
                                              {"beta_1 1", [](L& o) { o.beta_1 = 1; }},
                                              {"beta_1 0", [](L& o) { o.beta_1 = 0; }}});
  using F = optim::FtrlOptions;
  optimizer_cases_of<optim::Ftrl, F>(
      "Ftrl", {{"power", [](F& o) { o.learning_rate_power = -0.3; }},
               {"power 0", [](F& o) { o.learning_rate_power = 0; }},
               {"initial", [](F& o) { o.initial_accumulator_value = 0.5; }},
               {"l1", [](F& o) { o.l1_regularization_strength = 0.3; }},
               {"l2", [](F& o) { o.l2_regularization_strength = 0.3; }},
               {"shrinkage", [](F& o) { o.l2_shrinkage_regularization_strength = 0.3; }},
               {"beta", [](F& o) { o.beta = 0.5; }},
               {"all", [](F& o) {
                  o.learning_rate_power = -0.7, o.l1_regularization_strength = 0.1,
                  o.l2_regularization_strength = 0.2, o.beta = 0.1,
                  o.l2_shrinkage_regularization_strength = 0.3;
                }}});
}

template <typename S>
void schedule_case(const std::string& name, const S& schedule) {
  for (double step :
       {0., 1., 2., 3., 4., 5., 9., 10., 11., 19., 20., 21., 40., 1000., -1., -5., 2.5, 0.5, 19.75})
    check(str_cat("schedule ", name, ", step ", figure("%g", step)),
          [&] { return figure("%.6g", schedule(step)); });
}

void schedule_cases() {
  using optim::CosineDecay, optim::CosineDecayRestarts, optim::ExponentialDecay;
  using optim::InverseTimeDecay, optim::PiecewiseConstantDecay, optim::PolynomialDecay;
  schedule_case("piecewise", PiecewiseConstantDecay{{2, 10}, {1.0, 0.5, 0.1}});
  schedule_case("piecewise of one", PiecewiseConstantDecay{{3}, {1.0, 0.5}});
  schedule_case("piecewise of none", PiecewiseConstantDecay{{}, {1.0}});
  schedule_case("piecewise of equals", PiecewiseConstantDecay{{3, 3}, {1.0, 0.5, 0.1}});
  schedule_case("piecewise not sorted", PiecewiseConstantDecay{{10, 2}, {1.0, 0.5, 0.1}});
  schedule_case("piecewise too few", PiecewiseConstantDecay{{2, 10}, {1.0, 0.5}});
  schedule_case("exponential", ExponentialDecay{0.1, 10, 0.5});
  schedule_case("exponential staircase", ExponentialDecay{0.1, 10, 0.5, true});
  schedule_case("exponential growing", ExponentialDecay{0.1, 10, 1.5});
  schedule_case("exponential 0", ExponentialDecay{0.1, 10, 0.0});
  schedule_case("exponential no steps", ExponentialDecay{0.1, 0, 0.5});
  schedule_case("cosine", CosineDecay{0.1, 20});
  schedule_case("cosine alpha", CosineDecay{0.1, 20, 0.1});
  schedule_case("cosine alpha 2", CosineDecay{0.1, 20, 2.0});
  schedule_case("cosine no steps", CosineDecay{0.1, 0});
  schedule_case("cosine warmup", CosineDecay{0.0, 20, 0.0, 0.1, 5});
  schedule_case("cosine warmup alpha", CosineDecay{0.05, 10, 0.2, 0.1, 10});
  schedule_case("cosine warmup target alone", CosineDecay{0.05, 20, 0.0, 0.1});
  schedule_case("cosine warmup steps alone", CosineDecay{0.05, 20, 0.0, {}, 5});
  schedule_case("cosine warmup down", CosineDecay{0.5, 20, 0.0, 0.1, 5});
  schedule_case("restarts", CosineDecayRestarts{0.1, 4});
  schedule_case("restarts all", CosineDecayRestarts{0.1, 4, 1.5, 0.5, 0.1});
  schedule_case("restarts t_mul 1", CosineDecayRestarts{0.1, 4, 1.0, 0.5});
  schedule_case("restarts t_mul 0.5", CosineDecayRestarts{0.1, 4, 0.5});
  schedule_case("polynomial", PolynomialDecay{0.1, 20, 0.01, 2.0});
  schedule_case("polynomial defaults", PolynomialDecay{0.1, 20});
  schedule_case("polynomial cycle", PolynomialDecay{0.1, 8, 0.01, 1.0, true});
  schedule_case("polynomial cycle power", PolynomialDecay{0.1, 8, 0.01, 0.5, true});
  schedule_case("polynomial rising", PolynomialDecay{0.1, 20, 1.0, 0.5});
  schedule_case("polynomial no steps", PolynomialDecay{0.1, 0});
  schedule_case("inverse time", InverseTimeDecay{0.1, 10, 0.5});
  schedule_case("inverse time staircase", InverseTimeDecay{0.1, 10, 0.5, true});
}

void constraint_cases() {
  namespace c = nn::constraints;
  const Tensor matrix = uniform({4, 3}, 1) * 3.0f;
  const Tensor holes = matrix * Tensor({1, 3}, std::vector<float>{0, 1, 1});
  const std::vector<std::pair<std::string, Tensor>> values{
      {"matrix", matrix},
      {"kernel", uniform({2, 2, 3, 4}, 2) * 2.0f},
      {"zeros", holes},
      {"vector", matrix.rows(0, 1).view({3})}};
  const std::vector<std::pair<std::string, std::vector<int>>> axes{
      {"0", {0}}, {"1", {1}}, {"-1", {-1}}, {"[0, 1]", {0, 1}}, {"[0, 1, 2]", {0, 1, 2}}};
  for (const auto& [text, tensor] : values) {
    const auto run = [&, &text = text, &tensor = tensor](const std::string& name,
                                                         const nn::Constraint& constraint) {
      check(name + " of " + text, [&] { return sums("w", constraint(tensor)); });
    };
    for (const auto& [axis, list] : axes) {
      run("max_norm axis " + axis, c::max_norm(1.5, list));
      run("unit_norm axis " + axis, c::unit_norm(list));
      run("min_max axis " + axis, c::min_max_norm(0.5, 1.5, 1, list));
      run("min_max rate axis " + axis, c::min_max_norm(0.5, 1.5, 0.3, list));
    }
    run("max_norm", c::max_norm());
    run("unit_norm", c::unit_norm());
    run("min_max", c::min_max_norm());
    run("non_neg", c::non_neg());
    run("max_norm 0", c::max_norm(0));
    run("min_max of equals", c::min_max_norm(1, 1));
  }
  check("non_neg of nan", [] {
    std::string text;
    const Tensor nan{std::numeric_limits<float>::quiet_NaN(), -1.0f, 0.0f, -0.0f};
    for (const float one : c::non_neg()(nan).to_vector())
      text += (text.empty() ? "" : " ") + figure("%g", double(one));
    return text;
  });
  namespace r = nn::regularizers;
  const std::vector<std::pair<std::string, nn::Regularizer>> penalties{
      {"l1", r::L1()},          {"l2", r::L2()},        {"l1_l2", r::L1L2()},
      {"l1 0.5", r::L1(0.5)},   {"l2 0.5", r::L2(0.5)}, {"both", r::L1L2(0.1, 0.2)},
      {"negative", r::L2(-0.1)}};
  for (const auto& [name, penalty] : penalties)
    for (const auto& [text, tensor] : {std::pair("", matrix), std::pair(" of zeros", holes)})
      check("penalty " + name + text, [&, &penalty = penalty, &tensor = tensor] {
        const Variable source(tensor);
        dist::GradientTape tape;
        const Tensor loss = penalty(source.value());
        const std::vector<Variable> sources{source};
        const Tensor gradient =
            tape.gradient({loss}, sources, {.unconnected = dist::UnconnectedGradients::Zero})[0];
        return figure("%.7g ", double(loss.to_vector()[0])) + sums("gradient", gradient);
      });
}

/// Mean, deviation and limits in two figures: what a distribution is known by.
std::string distribution(const Tensor& tensor) {
  const std::vector<float> values = tensor.to_vector();
  double mean = 0, squares = 0, furthest = 0;
  for (const float one : values) mean += double(one) / double(values.size());
  for (const float one : values) {
    const double from_mean = double(one) - mean;
    squares += from_mean * from_mean / double(values.size());
    furthest = std::max(furthest, std::abs(from_mean));
  }
  const double deviation = std::sqrt(squares), spread = furthest / deviation;
  const char* kind = spread < 1.9 ? " uniform " : spread < 2.5 ? " truncated " : " normal ";
  return figure("%.2f", mean / 10 + 1) + kind + figure("%.1f", std::log2(deviation));
}

std::string text_of(const Shape& shape) {
  std::string text;
  for (const int64_t size : shape.dims()) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}
std::string numbers(const Tensor& tensor) {
  std::string text;
  for (const float one : tensor.to_vector())
    text += (text.empty() ? "" : " ") + figure("%g", double(one));
  return text;
}
/// Products of the rows or columns of an orthogonal matrix.
std::string products(double gain, const Shape& shape) {
  const Tensor value = nn::initializers::orthogonal(gain, 1)(shape, 0);
  const Tensor matrix = reshape(value, {-1, shape[-1]});
  const bool is_wide = matrix.shape()[0] < matrix.shape()[1];
  const Tensor other = dist::transpose(matrix);
  std::string text;
  for (const float one : (is_wide ? matmul(matrix, other) : matmul(other, matrix)).to_vector())
    text += (text.empty() ? "" : " ") + figure("%.3f", std::abs(double(one)));
  return text;
}

void initializer_cases() {
  namespace i = nn::initializers;
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{3, 5}, Shape{4, 3, 5}, Shape{2, 4, 3, 5},
                             Shape{2, 3, 4, 3, 5}, Shape{0, 5}, Shape{1, 1}})
    check("fans of " + text_of(shape), [&] {
      const i::Fans fans = i::compute_fans(shape);
      return figure("%g", fans.in) + figure(" %g", fans.out);
    });
  const std::vector<std::pair<std::string, nn::Initializer>> scales{
      {"glorot_uniform", i::glorot_uniform(1)}, {"glorot_normal", i::glorot_normal(1)},
      {"he_uniform", i::he_uniform(1)},         {"he_normal", i::he_normal(1)},
      {"lecun_uniform", i::lecun_uniform(1)},   {"lecun_normal", i::lecun_normal(1)}};
  for (const auto& [name, initializer] : scales)
    for (const Shape& shape : {Shape{20000}, Shape{200, 400}, Shape{400, 200}, Shape{10, 100, 200},
                               Shape{5, 5, 100, 50}, Shape{2, 3, 4, 50, 100}, Shape{40000, 1}})
      check(name + " of " + text_of(shape),
            [&, &initializer = initializer] { return distribution(initializer(shape, 0)); });
  using Distribution = i::Distribution;
  for (const auto& [mode, fan] :
       {std::pair("fan_in", i::FanMode::In), std::pair("fan_out", i::FanMode::Out),
        std::pair("fan_avg", i::FanMode::Average)})
    for (const auto& [name, kind] :
         {std::pair("uniform", Distribution::Uniform),
          std::pair("truncated_normal", Distribution::TruncatedNormal),
          std::pair("untruncated_normal", Distribution::UntruncatedNormal)})
      for (double scale : {0.5, 2.0, 8.0})
        check(str_cat("variance ", mode, " ", name, " ", python(scale)),
              [&, fan = fan, kind = kind] {
                return distribution(i::variance_scaling({scale, fan, kind, 1})({100, 400}, 0));
              });
  for (double scale : {0.0, -1.0})
    check("variance scale " + python(scale), [&] {
      return distribution(i::variance_scaling({.scale = scale})({100, 400}, 0));
    });
  const std::vector<std::pair<std::string, nn::Initializer>> others{
      {"random_normal", i::random_normal(0, 0.05, 1)},
      {"random_uniform", i::random_uniform(-0.05, 0.05, 1)},
      {"truncated_normal", i::truncated_normal(0, 0.05, 1)},
      {"random_normal 2, 3", i::random_normal(2, 3, 1)},
      {"truncated_normal 2, 3", i::truncated_normal(2, 3, 1)},
      {"random_uniform 1, 3", i::random_uniform(1, 3, 1)},
      {"orthogonal", i::orthogonal(1, 1)},
      {"orthogonal 2", i::orthogonal(2, 1)}};
  for (const auto& [name, initializer] : others)
    check(name, [&, &initializer = initializer] {
      return distribution(initializer({300, 300}, 0));
    });
  for (const Shape& shape : {Shape{3, 5}, Shape{5, 3}, Shape{2, 3, 4}})
    for (double gain : {1.0, 2.0})
      check(str_cat("orthogonal ", python(gain), " of ", text_of(shape), ", product"),
            [&] { return products(gain, shape); });
  check("orthogonal of one axis", [] { return distribution(i::orthogonal(1, 1)({3}, 0)); });
  const std::vector<std::pair<std::string, nn::Initializer>> fixed{
      {"zeros", i::zeros()}, {"ones", i::ones()}, {"constant 2.5", i::constant(2.5)}};
  for (const auto& [name, initializer] : fixed)
    check(name + " of [2, 2]", [&, &initializer = initializer] {
      return numbers(initializer({2, 2}, 0));
    });
  for (double gain : {1.0, 2.5})
    for (const Shape& shape : {Shape{2, 2}, Shape{2, 3}, Shape{3, 2}, Shape{2}, Shape{2, 2, 2}})
      check(str_cat("identity ", python(gain), " of ", text_of(shape)),
            [&] { return numbers(i::identity(gain)(shape, 0)); });
}

}  // namespace

void optimizer_option_cases() {
  sgd_and_adam_cases();
  history_optimizer_cases();
  other_optimizer_cases();
  schedule_cases();
  constraint_cases();
  initializer_cases();
}

}  // namespace comparison
