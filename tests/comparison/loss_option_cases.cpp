/// Options of losses, as loss_option_cases.py prints them.
#include "option_cases.hpp"

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/regression_losses.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <limits>
#include <map>
#include <memory>

namespace comparison {

namespace {

using dist::DType;
using nn::Reduction;
using MakeLoss = std::function<std::unique_ptr<nn::Loss>()>;

template <typename L>
MakeLoss loss() {
  return [] { return std::make_unique<L>(); };
}
template <typename L, typename Options>
MakeLoss loss(const Options& options) {
  return [options] { return std::make_unique<L>(options); };
}

const std::vector<std::pair<std::string, Reduction>>& reductions() {
  static const std::vector<std::pair<std::string, Reduction>> all{
      {"sum_over_batch_size", Reduction::SumOverBatchSize},
      {"sum", Reduction::Sum},
      {"mean", Reduction::Mean},
      {"mean_with_sample_weight", Reduction::MeanWithSampleWeight},
      {"none", Reduction::None}};
  return all;
}

Tensor steps_mask() { return bools({2, 3}, {1, 0, 1, 0, 0, 1}); }
Tensor column(std::vector<float> values) { return Tensor({2, 1}, values); }

const std::vector<std::pair<std::string, Tensor>>& weights() {
  static const std::vector<std::pair<std::string, Tensor>> all{
      {"no weights", Tensor()},
      {"a number", Tensor(0.5f)},
      {"[2, 1]", column({0.5f, 2})},
      {"zeros", column({0, 0})},
      {"negative", column({-1, 2})},
      {"integers", Tensor({2, 1}, std::vector<int32_t>{1, 3})},
      {"[2, 3]", abs(uniform({2, 3}, 31))},
      {"[2, 3, 1]", abs(uniform({2, 3, 1}, 31))},
      {"nan", column({std::numeric_limits<float>::quiet_NaN(), 1})}};
  return all;
}
Tensor weight(const std::string& name) {
  for (const auto& [known, value] : weights())
    if (known == name) return value;
  throw dist::InvalidArgumentError("no weights " + name);
}

std::string describe(const nn::Loss& loss, const Tensor& y, const Tensor& p, const Tensor& weight,
                     const Tensor& mask) {
  if (!is_floating(p.dtype())) return show(loss(y, p, weight));
  const dist::Variable source(p);
  dist::GradientTape tape;
  const Tensor x = source.value();
  const Tensor value = loss(y, mask ? nn::nn_internal::with_mask(x, mask, x) : x, weight);
  const Tensor gradient = tape.gradient(reduce_sum(value), source);
  return show(value) + (gradient ? " | " + sums("gradient", gradient) : "");
}

void check(const std::string& name, const MakeLoss& make, const Pair& pair,
           const Tensor& weight = {}, const Tensor& mask = {}) {
  run_case("loss options/" + name,
           [&] { return describe(*make(), pair.first, pair.second, weight, mask); });
}

Shape shape() { return {2, 3, 4}; }
Tensor logits() { return uniform(shape(), 13) * 4.0f; }

Pair regression() { return {uniform(shape(), 1), uniform(shape(), 2)}; }
Pair distribution() { return {positive(shape(), 3), positive(shape(), 4)}; }
Pair one_hots() { return {one_hot_of(shape(), 5), positive(shape(), 6)}; }
Pair bit_pairs() { return {bits(shape(), 7), positive(shape(), 8)}; }
Pair id_pairs() { return {class_ids({2, 3}, 4, 9), positive(shape(), 10)}; }
Pair signs() { return {bits(shape(), 11) * 2.0f - 1.0f, uniform(shape(), 12)}; }

struct Kind {
  std::string name;
  Pair pair;
  std::function<MakeLoss(Reduction)> make;
};
template <typename L, typename Options = nn::LossOptions>
Kind kind(const char* name, const Pair& pair) {
  return {name, pair, [](Reduction reduction) {
            Options options;
            options.reduction = reduction;
            return loss<L>(options);
          }};
}

std::vector<Kind> kinds() {
  return {
      kind<nn::MeanSquaredError>("MeanSquaredError", regression()),
      kind<nn::MeanAbsoluteError>("MeanAbsoluteError", regression()),
      kind<nn::MeanAbsolutePercentageError>("MeanAbsolutePercentageError", regression()),
      kind<nn::MeanSquaredLogarithmicError>("MeanSquaredLogarithmicError", distribution()),
      kind<nn::Huber, nn::HuberOptions>("Huber", regression()),
      kind<nn::LogCosh>("LogCosh", regression()),
      kind<nn::CosineSimilarity, nn::CosineSimilarityOptions>("CosineSimilarity", regression()),
      kind<nn::KLDivergence>("KLDivergence", distribution()),
      kind<nn::Poisson>("Poisson", distribution()),
      kind<nn::Hinge>("Hinge", signs()),
      kind<nn::SquaredHinge>("SquaredHinge", signs()),
      kind<nn::CategoricalHinge>("CategoricalHinge", one_hots()),
      kind<nn::BinaryCrossentropy, nn::CrossentropyLossOptions>("BinaryCrossentropy", bit_pairs()),
      kind<nn::CategoricalCrossentropy, nn::CrossentropyLossOptions>("CategoricalCrossentropy",
                                                                     one_hots()),
      kind<nn::SparseCategoricalCrossentropy, nn::SparseCrossentropyLossOptions>(
          "SparseCategoricalCrossentropy", id_pairs()),
      kind<nn::BinaryFocalCrossentropy, nn::BinaryFocalLossOptions>("BinaryFocalCrossentropy",
                                                                    bit_pairs()),
      kind<nn::CategoricalFocalCrossentropy, nn::CategoricalFocalLossOptions>(
          "CategoricalFocalCrossentropy", one_hots())};
}

void reduction_option_cases() {
  for (const Kind& one : kinds())
    for (const auto& [reduction, value] : reductions())
      for (const char* given : {"no weights", "[2, 1]", "[2, 3]"})
        check(str_cat(one.name, " ", reduction, ", ", given), one.make(value), one.pair,
              weight(given));
  for (const auto& [reduction, value] : reductions())
    for (const auto& [given, tensor] : weights())
      for (bool masked : {false, true})
        check(str_cat("mse ", reduction, ", ", given, masked ? ", masked" : ""),
              loss<nn::MeanSquaredError>(nn::LossOptions{.reduction = value}), regression(), tensor,
              masked ? steps_mask() : Tensor());
}

/// The options that the four losses of probabilities share.
struct Probable {
  double smoothing = 0;
  bool from_logits = false;
  int axis = -1;
  Reduction reduction = Reduction::Auto;
};
template <typename L, typename Options>
void probability_cases(const std::string& name, const Pair& pair) {
  const auto run = [&](const std::string& text, const Probable& given) {
    Options options;
    options.label_smoothing = given.smoothing, options.from_logits = given.from_logits;
    options.axis = given.axis, options.reduction = given.reduction;
    check(name + " " + text, loss<L>(options),
          {pair.first, given.from_logits ? logits() : pair.second});
  };
  for (double smoothing : {0.0, 0.1, 1.0, 1.5, -0.5})
    for (bool from_logits : {false, true})
      run(str_cat("label_smoothing ", python(smoothing), from_logits ? ", logits" : ""),
          {.smoothing = smoothing, .from_logits = from_logits});
  for (int axis : {0, 1, 2, -2, -3, 3})
    for (bool from_logits : {false, true})
      run(str_cat("axis ", axis, from_logits ? ", logits" : ""),
          {.from_logits = from_logits, .axis = axis, .reduction = Reduction::None});
  run("axis 1, smoothed", {.smoothing = 0.2, .axis = 1});
}

template <typename L, typename Options>
void focal_cases(const std::string& name, const Pair& pair) {
  for (double alpha : {0.0, 0.25, 0.75, 2.0})
    for (double gamma : {0.0, 0.5, 2.0, 3.0}) {
      Options options;
      options.alpha = alpha, options.gamma = gamma;
      if constexpr (requires { options.apply_class_balancing; })
        options.apply_class_balancing = true;
      check(str_cat(name, " alpha ", python(alpha), " gamma ", python(gamma)), loss<L>(options),
            pair);
    }
  check(name + " alpha alone", loss<L>(Options{.alpha = 0.75}), pair);
  check(name + " all",
        loss<L>(Options{.alpha = 0.4, .gamma = 1.5, .from_logits = true, .label_smoothing = 0.1}),
        {pair.first, logits()});
}

using Sparse = nn::SparseCategoricalCrossentropy;
using SparseOptions = nn::SparseCrossentropyLossOptions;

void sparse_loss_cases() {
  const auto [y, p] = id_pairs();
  std::vector<int32_t> numbers;
  for (const float one : cast(y, DType::Float32).to_vector()) numbers.push_back(int32_t(one));
  numbers[1] = -1;
  const Tensor hole({2, 3}, numbers);
  numbers[1] = 255;
  const Tensor far({2, 3}, numbers);
  check("sparse logits", loss<Sparse>(SparseOptions{.from_logits = true}), {y, logits()});
  const std::vector<std::pair<std::string, Tensor>> targets{{"ids", y}, {"-1", hole}, {"255", far}};
  for (int ignored : {0, 2, -1, 255, 7})
    for (const auto& [name, target] : targets)
      for (bool from_logits : {false, true})
        check(str_cat("sparse ignore_class ", ignored, " of ", name, from_logits ? ", logits" : ""),
              loss<Sparse>(SparseOptions{.from_logits = from_logits, .ignore_class = ignored}),
              {target, from_logits ? logits() : p});
  for (const auto& [reduction, value] : reductions())
    for (const char* given : {"no weights", "[2, 1]", "[2, 3]"})
      for (bool masked : {false, true})
        check(str_cat("sparse ignore_class -1, ", reduction, ", ", given, masked ? ", masked" : ""),
              loss<Sparse>(SparseOptions{.ignore_class = -1, .reduction = value}), {hole, p},
              weight(given), masked ? steps_mask() : Tensor());
  check("sparse all ignored", loss<Sparse>(SparseOptions{.ignore_class = 3}),
        {dist::ones_like(y) * 3, p});
  check("sparse ignore_class of columns", loss<Sparse>(SparseOptions{.ignore_class = 2}),
        {expand_dims(y, -1), p});
  check("sparse ignore_class of floats", loss<Sparse>(SparseOptions{.ignore_class = 2}),
        {cast(y, DType::Float32), p});
  check("sparse of scalars", loss<Sparse>(),
        {Tensor(int32_t(1)), reshape(p.rows(0, 1), {3, 4}).rows(0, 1).view({4})});
  check("sparse [2, 3] of [2, 3]", loss<Sparse>(), {y, positive({2, 3}, 10)});
}

void loss_option_part() {
  probability_cases<nn::BinaryCrossentropy, nn::CrossentropyLossOptions>("BinaryCrossentropy",
                                                                         bit_pairs());
  probability_cases<nn::CategoricalCrossentropy, nn::CrossentropyLossOptions>(
      "CategoricalCrossentropy", one_hots());
  probability_cases<nn::BinaryFocalCrossentropy, nn::BinaryFocalLossOptions>(
      "BinaryFocalCrossentropy", bit_pairs());
  probability_cases<nn::CategoricalFocalCrossentropy, nn::CategoricalFocalLossOptions>(
      "CategoricalFocalCrossentropy", one_hots());
  focal_cases<nn::BinaryFocalCrossentropy, nn::BinaryFocalLossOptions>("BinaryFocalCrossentropy",
                                                                       bit_pairs());
  focal_cases<nn::CategoricalFocalCrossentropy, nn::CategoricalFocalLossOptions>(
      "CategoricalFocalCrossentropy", one_hots());
  sparse_loss_cases();
  for (double delta : {0.0, 0.1, 0.5, 1.0, 2.0, -1.0})
    check("huber delta " + python(delta), loss<nn::Huber>(nn::HuberOptions{.delta = delta}),
          regression());
  for (int axis : {0, 1, 2, -1, -2, -3, 3})
    for (bool none : {false, true})
      check(str_cat("cosine axis ", axis, none ? ", none" : ""),
            loss<nn::CosineSimilarity>(nn::CosineSimilarityOptions{
                .axis = axis, .reduction = none ? Reduction::None : Reduction::Auto}),
            regression());
}

Tensor extreme() { return Tensor({2, 4}, std::vector<float>{0, 1, 0.5f, 0, 1, 0, 1, 0}); }
Tensor targets() { return Tensor({2, 4}, std::vector<float>{0, 1, 1, 1, 1, 0, 0, 0}); }
Tensor with_third(float value) {
  return Tensor({2, 4}, std::vector<float>{0, 1, value, 0, 1, 0, 1, 0});
}

std::vector<std::pair<std::string, Pair>> odd_inputs() {
  const Tensor y = targets(), p = extreme();
  const Tensor nan = with_third(std::numeric_limits<float>::quiet_NaN());
  const Tensor zero = dist::zeros({2, 4}), unit = dist::ones({2, 4});
  const auto first = [](const Tensor& x) { return x.rows(0, 1); };
  const Tensor empty = dist::zeros({0, 4}), flat = dist::zeros({2, 0});
  return {{"extreme", {y, p}},
          {"zeros", {zero, zero}},
          {"ones", {unit, unit}},
          {"negative", {-y, p - 2.0f}},
          {"nan", {y, nan}},
          {"nan targets", {nan, p}},
          {"inf", {y, with_third(std::numeric_limits<float>::infinity())}},
          {"large", {y * 100.0f, p * 1000.0f}},
          {"empty", {empty, empty}},
          {"no elements", {flat, flat}},
          {"integers", {cast(y, DType::Int32), p}},
          {"bools", {cast(y, DType::Bool), p}},
          {"both integers", {cast(y, DType::Int32), cast(unit, DType::Int32)}},
          {"one axis", {first(y).view({4}), first(p).view({4})}},
          {"numbers", {Tensor(1.0f), Tensor(0.25f)}},
          {"[2, 4] of [2, 1]", {y, Tensor({2, 1}, std::vector<float>{0.5f, 1})}},
          {"[2, 1] of [2, 4]", {Tensor({2, 1}, std::vector<float>{0, 1}), p}},
          {"[1, 4] of [2, 4]", {first(y), p}},
          {"[4] of [2, 4]", {first(y).view({4}), p}}};
}

void odd_loss_cases() {
  for (const Kind& one : kinds()) {
    if (one.name == "SparseCategoricalCrossentropy") continue;
    for (const auto& [text, pair] : odd_inputs()) {
      check(str_cat(one.name, " of ", text, ", none"), one.make(Reduction::None), pair);
      check(str_cat(one.name, " of ", text, ", sum_over_batch_size"),
            one.make(Reduction::SumOverBatchSize), pair);
    }
  }
  for (float sign : {1.0f, -1.0f}) {
    const Pair pair{targets(), targets() * (200.0f * sign) - 100.0f * sign};
    const auto name = [&](const char* loss) {
      return str_cat(loss, " of logits ", sign > 0 ? "-100" : "100");
    };
    const nn::CrossentropyLossOptions from_logits{.from_logits = true};
    check(name("BinaryCrossentropy"), loss<nn::BinaryCrossentropy>(from_logits), pair);
    check(name("CategoricalCrossentropy"), loss<nn::CategoricalCrossentropy>(from_logits), pair);
    check(name("BinaryFocalCrossentropy"),
          loss<nn::BinaryFocalCrossentropy>(nn::BinaryFocalLossOptions{.from_logits = true}), pair);
    check(name("CategoricalFocalCrossentropy"),
          loss<nn::CategoricalFocalCrossentropy>(
              nn::CategoricalFocalLossOptions{.from_logits = true}),
          pair);
  }
  const std::vector<std::pair<std::string, Tensor>> rare{
      {"too large", Tensor{int64_t(0), int64_t(4)}},
      {"negative", Tensor{int64_t(-1), int64_t(2)}},
      {"floats", Tensor{0.0f, 2.0f}},
      {"fractions", Tensor{0.7f, 2.9f}},
      {"columns", Tensor({2, 1}, std::vector<int64_t>{0, 2})},
      {"bools", bools({2}, {1, 0})},
      {"bytes", cast(Tensor{0.0f, 2.0f}, DType::UInt8)}};
  for (const auto& [text, y] : rare)
    for (bool from_logits : {false, true})
      check(str_cat("sparse of ", text, from_logits ? ", logits" : ""),
            loss<Sparse>(SparseOptions{.from_logits = from_logits, .reduction = Reduction::None}),
            {y, extreme()});
  check("hinge of zeros and ones", loss<nn::Hinge>(), {targets(), extreme()});
  const Tensor corner({2, 4}, std::vector<float>{2, 0, 0, 0, 0, 2, 0, 0});
  check("hinge of zeros, ones and minus ones", loss<nn::Hinge>(), {targets() - corner, extreme()});
  check("hinge of halves", loss<nn::Hinge>(), {targets() / 2.0f, extreme()});
  check("squared hinge of zeros and ones", loss<nn::SquaredHinge>(), {targets(), extreme()});
  const std::vector<std::pair<std::string, std::vector<int32_t>>> rows{
      {"[[1, 2, 0], [2, 2, 1]]", {1, 2, 0, 2, 2, 1}},
      {"[[0, 0, 0], [1, 0, 0]]", {0, 0, 0, 1, 0, 0}},
      {"[[1, 0, 2], [3, 0, 0]]", {1, 0, 2, 3, 0, 0}}};
  for (const auto& [text, numbers] : rows)
    for (const auto& reduction : {reductions()[4], reductions()[0]})
      check(str_cat("ctc of ", text, ", ", reduction.first),
            loss<nn::CTC>(nn::LossOptions{.reduction = reduction.second}),
            {Tensor({2, 3}, numbers), uniform({2, 5, 4}, 15) * 2.0f});
}

}  // namespace

void loss_option_cases() {
  reduction_option_cases();
  loss_option_part();
  odd_loss_cases();
}

}  // namespace comparison
