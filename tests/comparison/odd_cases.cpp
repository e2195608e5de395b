/// Odd uses of fit, callbacks, optimizers, losses and metrics, as odd_cases.py prints them.
#include "cases.hpp"

#include <distribute/nn/activation.hpp>
#include <distribute/nn/confusion_metrics.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/mean_metrics.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/regression_losses.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/lamb.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/exponential_moving_average.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/monitored_callbacks.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>

namespace comparison {

namespace {

namespace nn = dist::nn;
namespace optim = dist::optim;
namespace train = dist::train;
using dist::DType;
using dist::Shape;
using dist::str_cat;
using Floats = std::vector<float>;
using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>()>;

std::string numbers(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) {
    char figures[32];
    std::snprintf(figures, sizeof figures, "%.7g", value);
    text += (text.empty() ? "" : " ") + std::string(figures);
  }
  return text;
}
std::string numbers(const Tensor& tensor) {
  const Floats values = tensor.to_vector();
  return numbers(std::vector<double>(values.begin(), values.end()));
}

Tensor x(int64_t rows = 10) {
  Floats values;
  for (int64_t i = 1; i <= rows; ++i) values.push_back(float(i) / 10);
  return Tensor({rows, 1}, values);
}
Tensor y(int64_t rows = 10) { return x(rows) * 2.0f + 1.0f; }
Tensor weights() {
  Floats values;
  for (int i = 1; i <= 10; ++i) values.push_back(float(i) / 5);
  return Tensor({10}, values);
}
Tensor classes() { return cast(greater(x(), Tensor(0.45f)), DType::Float32); }

template <typename Optimizer, typename Options>
MakeOptimizer making(const Options& options) {
  return [options] { return std::make_unique<Optimizer>(options); };
}
MakeOptimizer sgd(double rate = 0.1) {
  return making<optim::SGD>(optim::SGDOptions{.learning_rate = rate});
}

struct LineOptions {
  train::LossFunction loss = "mse";
  bool sigmoid = false;
  std::vector<const char*> metrics = {}, weighted_metrics = {};
  int64_t accumulation = 1;
};

/// The line of fit_cases.cpp with a bias, under the current strategy.
struct Line {
  explicit Line(const MakeOptimizer& make, const LineOptions& options = {})
      : net(nn::Dense({.units = 1, .kernel_initializer = nn::initializers::ones()}),
            nn::Activation(options.sigmoid ? static_cast<nn::ActivationFunction>(nn::sigmoid)
                                           : nullptr)),
        optimizer(make()),
        model(net) {
    model.compile(
        {.optimizer = *optimizer,
         .loss = options.loss,
         .metrics = {options.metrics.begin(), options.metrics.end()},
         .weighted_metrics = {options.weighted_metrics.begin(), options.weighted_metrics.end()},
         .gradient_accumulation_steps = options.accumulation});
  }

  std::string result(const train::History& history) {
    if (!net.built()) net(x());
    std::string text;
    for (const auto& [name, values] : std::map(history.history.begin(), history.history.end()))
      text += str_cat(name, " ", numbers(values), " ");
    text += "weights";
    for (const auto& weight : net.variables()) text += " " + numbers(weight.value());
    return text;
  }
  std::string fit(const train::ArrayData& arrays, train::FitOptions options = {},
                  train::ArrayOptions of_arrays = {}) {
    options.verbose = train::Verbose::Silent;
    of_arrays.shuffle = false;
    return result(model.fit(arrays, options, of_arrays));
  }
  std::string fit(const dist::data::Dataset& data, train::FitOptions options) {
    options.verbose = train::Verbose::Silent;
    return result(model.fit(data, options));
  }

  nn::Sequential net;
  std::unique_ptr<optim::Optimizer> optimizer;
  train::Model model;
};

dist::data::Dataset batches(int64_t repeat = 1) {
  return dist::data::Dataset::from_tensor_slices(x(), y()).batch(4).repeat(repeat);
}

const LineOptions kWeighted{.weighted_metrics = {"mae"}};
const LineOptions kClasses{
    .loss = "binary_crossentropy", .sigmoid = true, .weighted_metrics = {"accuracy"}};
const std::map<int64_t, float> kClassWeights{{0, 3.0f}, {1, 0.5f}};

void array_cases() {
  run_case("odd/split", [] {
    return Line(sgd()).fit({x(), y()}, {}, {.batch_size = 4, .validation_split = 0.3});
  });
  run_case("odd/split with weights", [] {
    return Line(sgd(), kWeighted)
        .fit({x(), y(), weights()}, {}, {.batch_size = 4, .validation_split = 0.3});
  });
  run_case("odd/split 0.25", [] {
    return Line(sgd(), {.metrics = {"mae"}})
        .fit({x(), y()}, {.epochs = 2},
             {.batch_size = 3, .validation_split = 0.25, .validation_batch_size = 2});
  });
  run_case("odd/class weights", [] {
    return Line(sgd(), kClasses)
        .fit({x(), classes()}, {.epochs = 2, .class_weight = kClassWeights}, {.batch_size = 4});
  });
  run_case("odd/steps of repeated data",
           [] { return Line(sgd()).fit(batches(2), {.epochs = 2, .steps_per_epoch = 2}); });
  run_case("odd/steps go on",
           [] { return Line(sgd()).fit(batches(-1), {.epochs = 3, .steps_per_epoch = 2}); });
  run_case("odd/validation steps", [] {
    return Line(sgd()).fit(batches(),
                           {.epochs = 2, .validation_data = batches(), .validation_steps = 2});
  });
  run_case("odd/initial epoch", [] {
    train::LearningRateScheduler slower(
        [](int64_t epoch, double rate) { return rate / double(epoch + 1); });
    return Line(sgd()).fit({x(), y()}, {.epochs = 4, .callbacks = {slower}, .initial_epoch = 2},
                           {.batch_size = 4});
  });
  run_case("odd/no epochs left", [] {
    return Line(sgd()).fit({x(), y()}, {.epochs = 3, .initial_epoch = 3});
  });
}

optim::LearningRate staircase() { return optim::ExponentialDecay{0.1, 2, 0.5, true}; }

void accumulation_cases() {
  const std::vector<std::pair<std::string, optim::LearningRate>> schedules = {
      {"staircase", staircase()},
      {"cosine warmup", optim::CosineDecay{0.01, 4, 0.1, 0.2, 2}},
      {"restarts", optim::CosineDecayRestarts{0.1, 2, 1.5, 0.5, 0.01}},
      {"cycle", optim::PolynomialDecay{0.1, 3, 0.01, 2.0, true}},
      {"pieces", optim::PiecewiseConstantDecay{{1, 3}, {0.1, 0.05, 0.01}}},
      {"inverse", optim::InverseTimeDecay{0.1, 2, 0.5, true}}};
  for (const auto& [name, schedule] : schedules) {
    run_case(str_cat("odd/", name, ", averages"), [rate = schedule] {
      return Line(making<optim::Adam>(optim::AdamOptions{.learning_rate = rate,
                                                         .use_ema = true,
                                                         .ema_momentum = 0.5,
                                                         .ema_overwrite_frequency = 3}))
          .fit({x(), y()}, {.epochs = 2}, {.batch_size = 2});
    });
    for (const int64_t steps : {2, 3})
      run_case(str_cat("odd/", name, ", accumulation ", steps), [steps, rate = schedule] {
        return Line(making<optim::Adam>(optim::AdamOptions{.learning_rate = rate}),
                    {.accumulation = steps})
            .fit({x(), y()}, {.epochs = 2}, {.batch_size = 2});
      });
  }
  const std::vector<std::tuple<std::string, int64_t, MakeOptimizer>> optimizers = {
      {"nesterov", 3,
       making<optim::SGD>(optim::SGDOptions{.learning_rate = 0.05,
                                            .momentum = 0.9,
                                            .nesterov = true,
                                            .weight_decay = 0.1,
                                            .clipvalue = 0.5})},
      {"amsgrad", 2,
       making<optim::Adam>(
           optim::AdamOptions{.learning_rate = 0.1, .amsgrad = true, .global_clipnorm = 0.3})},
      {"centered", 2,
       making<optim::RMSprop>(optim::RMSpropOptions{
           .learning_rate = 0.05, .momentum = 0.5, .centered = true, .clipnorm = 0.2})},
      {"adamw", 2,
       making<optim::AdamW>(optim::AdamWOptions{
           .learning_rate = 0.1, .weight_decay = 0.3, .use_ema = true, .ema_momentum = 0.3})},
      {"adagrad", 2, making<optim::Adagrad>(optim::AdagradOptions{.learning_rate = 0.2})},
      {"nadam", 2, making<optim::Nadam>(optim::NadamOptions{.learning_rate = 0.1})},
      {"adamax", 2, making<optim::Adamax>(optim::AdamaxOptions{.learning_rate = 0.1})},
      {"lion", 2,
       making<optim::Lion>(optim::LionOptions{.learning_rate = 0.05, .weight_decay = 0.1})}};
  for (const auto& [name, steps, make] : optimizers)
    run_case("odd/accumulation, " + name, [&, steps = steps, make = make] {
      return Line(make, {.accumulation = steps}).fit({x(), y()}, {.epochs = 2}, {.batch_size = 2});
    });
}

/// Of a line over two replicas.
void run_on_two(const std::string& name, const std::function<std::string()>& function) {
  run_case("odd/two replicas, " + name, [&] {
    auto strategy = mirrored(2);
    const auto scope = strategy.scope();
    return function();
  });
}

void replica_cases() {
  run_on_two("last batch", [] {
    return Line(sgd(), kWeighted).fit({x(), y()}, {.epochs = 2}, {.batch_size = 4});
  });
  run_on_two("last batch of one", [] {
    return Line(sgd(), kWeighted).fit({x(9), y(9)}, {.epochs = 2}, {.batch_size = 4});
  });
  run_on_two("weights", [] {
    const Tensor some = where(less(weights(), Tensor(0.9f)), Tensor(0.0f), weights());
    return Line(sgd(), kWeighted).fit({x(), y(), some}, {}, {.batch_size = 4});
  });
  run_on_two("class weights", [] {
    return Line(sgd(), kClasses)
        .fit({x(), classes()}, {.class_weight = kClassWeights}, {.batch_size = 4});
  });
  run_on_two("accumulation", [] {
    return Line(making<optim::Adam>(optim::AdamOptions{.learning_rate = 0.1}), {.accumulation = 2})
        .fit({x(), y()}, {.epochs = 2}, {.batch_size = 4});
  });
  run_on_two("schedule and averages", [] {
    return Line(making<optim::SGD>(optim::SGDOptions{.learning_rate = staircase(),
                                                     .momentum = 0.9,
                                                     .use_ema = true,
                                                     .ema_momentum = 0.5,
                                                     .ema_overwrite_frequency = 2}))
        .fit({x(), y()}, {.epochs = 2}, {.batch_size = 4});
  });
}

train::ReduceLROnPlateau plateau(int64_t cooldown = 0, double least = 0) {
  return train::ReduceLROnPlateau({.monitor = "loss",
                                   .factor = 0.5,
                                   .patience = 1,
                                   .min_delta = 0.05,
                                   .cooldown = cooldown,
                                   .min_lr = least});
}

void callback_cases() {
  const auto fit = [](Line line, int64_t epochs, std::vector<train::CallbackHandle> callbacks) {
    return line.fit({x(), y()}, {.epochs = epochs, .callbacks = std::move(callbacks)},
                    {.batch_size = 5});
  };
  run_case("odd/plateau", [&] { return fit(Line(sgd()), 6, {plateau(1, 0.02)}); });
  run_case("odd/plateau and scheduler", [&] {
    train::LearningRateScheduler scheduler(
        [](int64_t epoch, double rate) { return rate * (epoch == 3 ? 2 : 1); });
    return fit(Line(sgd()), 5, {plateau(), scheduler});
  });
  run_case("odd/stopping, best weights", [&] {
    train::EarlyStopping stopping({.monitor = "loss", .patience = 2, .restore_best_weights = true});
    return fit(Line(sgd(1.2)), 8, {stopping, plateau()});
  });
  run_case("odd/stopping, start and baseline", [&] {
    train::EarlyStopping stopping(
        {.monitor = "loss", .patience = 1, .baseline = 0.01, .start_from_epoch = 2});
    return fit(Line(sgd()), 8, {stopping});
  });
  run_case("odd/stopping, max", [&] {
    train::EarlyStopping stopping({.monitor = "mae",
                                   .patience = 2,
                                   .mode = train::MonitorMode::Max,
                                   .restore_best_weights = true});
    return fit(Line(sgd(), {.metrics = {"mae"}}), 8, {stopping});
  });
  run_case("odd/swapped averages", [] {
    return Line(making<optim::Adam>(
                    optim::AdamOptions{.learning_rate = 0.1, .use_ema = true, .ema_momentum = 0.5}))
        .fit({x(), y()},
             {.epochs = 2, .callbacks = {train::SwapEMAWeights({.swap_on_epoch = true})}},
             {.batch_size = 5, .validation_data = train::ArrayData{x(), y()}});
  });
  run_case("odd/not a number", [] {
    const Tensor bad = where(greater(x(), Tensor(0.55f)), Tensor(std::nanf("")), x());
    return Line(sgd()).fit({bad, y()}, {.epochs = 2, .callbacks = {train::TerminateOnNaN()}},
                           {.batch_size = 2});
  });
}

Tensor wave(double (*function)(double), const Shape& shape) {
  Floats values;
  for (int i = 0; i < 12; ++i) values.push_back(float(function(i)));
  return Tensor(shape, values);
}

void shape_cases() {
  using Function = Tensor (*)(const Tensor&, const Tensor&);
  const std::vector<std::pair<const char*, Function>> functions = {
      {"mse", nn::mean_squared_error},
      {"mae", nn::mean_absolute_error},
      {"mape", nn::mean_absolute_percentage_error},
      {"msle", nn::mean_squared_logarithmic_error},
      {"log_cosh", nn::log_cosh},
      {"huber", nn::huber},
      {"hinge", nn::hinge},
      {"squared_hinge", nn::squared_hinge},
      {"poisson", nn::poisson},
      {"cosine_similarity", nn::cosine_similarity},
      {"kl_divergence", nn::kl_divergence}};
  const std::vector<std::pair<std::string, Shape>> shapes = {
      {"[12]", {12}}, {"[2, 3, 2]", {2, 3, 2}}, {"[2, 6, 1]", {2, 6, 1}}};
  for (const auto& [text, shape] : shapes) {
    const Tensor a = wave(std::sin, shape), b = wave(std::cos, shape);
    for (const auto& [name, function] : functions)
      run_case(str_cat("odd/", name, " ", text),
               [&, function = function] { return numbers(reduce_sum(function(a, b))); });
    run_case("odd/huber 0.3 " + text, [&] { return numbers(nn::Huber({.delta = 0.3})(a, b)); });
    run_case("odd/smoothed binary " + text, [&] {
      const nn::BinaryCrossentropy loss({.from_logits = true, .label_smoothing = 0.2});
      return numbers(loss(cast(greater(a, Tensor(0.0f)), DType::Float32), b));
    });
  }
}

void loss_cases_of_weights() {
  const Tensor p = abs(wave(std::sin, {2, 3, 2})), q = abs(wave(std::cos, {2, 3, 2}));
  for (const int axis : {0, 1, -2})
    run_case(str_cat("odd/cosine over ", axis),
             [&] { return numbers(nn::CosineSimilarity({.axis = axis})(p, q)); });
  const Tensor labels({2, 3}, std::vector<int64_t>{0, 1, 1, 1, 0, 0});
  run_case("odd/smoothed categorical", [&] {
    return numbers(nn::CategoricalCrossentropy({.from_logits = true, .label_smoothing = 0.1})(
        one_hot(labels, 2), q));
  });
  run_case("odd/categorical, not normalized", [&] {
    const Tensor two({2}, std::vector<int64_t>{0, 1});
    return numbers(nn::CategoricalCrossentropy()(one_hot(two, 2), q[0].rows(0, 2)));
  });
  const std::vector<std::pair<std::string, Tensor>> weights = {
      {"[2]", Tensor{1.0f, 3.0f}},
      {"[2, 1]", Tensor({2, 1}, Floats{1, 3})},
      {"[2, 3]", Tensor({2, 3}, Floats{1, 0, 2, 0, 0, 1})},
      {"2", Tensor(2.0f)}};
  const std::vector<std::pair<const char*, nn::Reduction>> reductions = {
      {"sum", nn::Reduction::Sum},
      {"none", nn::Reduction::None},
      {"sum_over_batch_size", nn::Reduction::SumOverBatchSize},
      {"mean_with_sample_weight", nn::Reduction::MeanWithSampleWeight}};
  for (const auto& [text, weight] : weights)
    for (const auto& [name, reduction] : reductions)
      run_case(str_cat("odd/sparse ", name, ", weights ", text), [&, reduction = reduction,
                                                                  weight = weight] {
        const nn::SparseCategoricalCrossentropy loss({.from_logits = true, .reduction = reduction});
        return numbers(loss(labels, q, weight));
      });
}

/// What a metric says after one update.
template <typename Metric, typename... Tensors>
void metric_case(const std::string& name, Metric metric, const Tensors&... tensors) {
  run_case("odd/" + name, [&] {
    if constexpr (sizeof...(tensors) > 0) metric.update_state(tensors...);
    return numbers(metric.result());
  });
}

Tensor pairs(const Floats& values) { return Tensor({int64_t(values.size()) / 2, 2}, values); }

void threshold_cases(const Tensor& t, const Tensor& p, const Tensor& w) {
  namespace m = nn::metrics;
  metric_case("auc pr weights", m::AUC({.num_thresholds = 5, .curve = m::AUCCurve::PR}), t, p, w);
  metric_case("auc minoring",
              m::AUC({.num_thresholds = 3, .summation_method = m::AUCSummationMethod::Minoring}), t,
              p, w);
  metric_case("auc logits", m::AUC({.from_logits = true}), t, Tensor{-1.0f, 2.0f, 0.5f, 0.0f}, w);
  metric_case("auc multi label",
              m::AUC({.num_thresholds = 5, .multi_label = true, .num_labels = 2}),
              pairs({0, 1, 1, 0}), pairs({0.2f, 0.7f, 0.4f, 0.6f}));
  run_case("odd/precision of two thresholds", [&] {
    m::Precision precision({.thresholds = {0.3, 0.65}});
    precision.update_state(t, p, w);
    precision.update_state(t, p);
    return numbers(precision.result());
  });
  metric_case("precision top 1, class 1", m::Precision({.top_k = 1, .class_id = 1}),
              pairs({0, 1, 0, 1, 1, 0}), pairs({0.2f, 0.7f, 0.6f, 0.4f, 0.3f, 0.6f}));
  metric_case("recall class 0", m::Recall({.class_id = 0}), pairs({0, 1, 1, 0}),
              pairs({0.6f, 0.7f, 0.4f, 0.6f}));
  metric_case("binary iou", m::BinaryIoU({.target_class_ids = {1}, .threshold = 0.45}), t, p, w);
  metric_case("f1 weighted", m::F1Score({.average = m::FScoreAverage::Weighted, .threshold = 0.5}),
              pairs({0, 1, 1, 1, 1, 0}), pairs({0.2f, 0.7f, 0.6f, 0.4f, 0.3f, 0.6f}),
              Tensor{1.0f, 2.0f, 1.0f});
  metric_case("fbeta", m::FBetaScore({.beta = 2.0}), pairs({0, 1, 0, 1, 1, 0}),
              pairs({0.2f, 0.7f, 0.6f, 0.4f, 0.3f, 0.6f}));
  metric_case("binary accuracy threshold", m::BinaryAccuracy({.threshold = 0.65}), t, p, w);
  metric_case("true positives", m::TruePositives({.thresholds = {0.3, 0.65}}), t, p, w);
}

void mean_cases(const Tensor& t, const Tensor& p, const Tensor& w) {
  namespace m = nn::metrics;
  run_case("odd/rmse weights", [&] {
    m::RootMeanSquaredError error;
    error.update_state(t, p, w);
    error.update_state(t, p);
    return numbers(error.result());
  });
  metric_case("mean iou weights", m::MeanIoU({.num_classes = 3}), Tensor{0.0f, 1.0f, 2.0f, 1.0f},
              Tensor{0.0f, 1.0f, 1.0f, 2.0f}, w);
  metric_case("top 2, weights", m::SparseTopKCategoricalAccuracy(2), Tensor{2.0f, 0.0f},
              Tensor({2, 3}, Floats{0.1f, 0.9f, 0.8f, 0.05f, 0.95f, 0.3f}), Tensor{1.0f, 3.0f});
  metric_case("top k, ties", m::SparseTopKCategoricalAccuracy(1), Tensor{0.0f, 1.0f},
              pairs({0.5f, 0.5f, 0.5f, 0.5f}));
  metric_case("sum weights", m::Sum(), pairs({1, 2, 3, 4}), Tensor{1.0f, 0.0f});
  metric_case("mean weights [2, 1]", m::Mean(), pairs({1, 2, 3, 4}), Tensor({2, 1}, Floats{1, 3}));
  metric_case("mean of nothing", m::Mean());
  metric_case("auc of nothing", m::AUC());
  metric_case("cosine over 0", m::CosineSimilarity({.axis = 0}), pairs({0, 1, 1, 1}),
              pairs({1, 0, 1, 1}));
  metric_case("hinge of 0 and 1", m::Hinge(), t, p, w);
  metric_case("kl zeros", m::KLDivergence(), pairs({0, 1}), pairs({0, 1}));
  metric_case("categorical crossentropy smoothed",
              m::CategoricalCrossentropy({.label_smoothing = 0.1}), pairs({0, 1, 1, 0}),
              pairs({0.2f, 0.6f, 0.5f, 0.1f}), Tensor{1.0f, 3.0f});
}

}  // namespace

void odd_cases() {
  array_cases();
  accumulation_cases();
  replica_cases();
  callback_cases();
  shape_cases();
  loss_cases_of_weights();
  const Tensor t{0.0f, 1.0f, 1.0f, 0.0f}, p{0.2f, 0.7f, 0.4f, 0.6f}, w{1.0f, 2.0f, 0.0f, 3.0f};
  threshold_cases(t, p, w);
  mean_cases(t, p, w);
}

}  // namespace comparison
