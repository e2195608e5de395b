#include "cases.hpp"
#include "weight_values.hpp"

#include <distribute/nn/confusion_metrics.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/mean_metrics.hpp>
#include <distribute/nn/regression_losses.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <optional>

namespace comparison {

namespace {

void average(const char* name, const Tensor& losses, const Tensor& weight,
             std::optional<int64_t> size = {}) {
  run_case(dist::str_cat("weights/average, ", name),
           [=] { return nn::compute_average_loss(losses, size, weight); });
}

void average_cases() {
  const Tensor two{1.0f, 2.0f}, column = f32({2, 1}, {1, 2}), matrix = f32({2, 3}, kMatrix);
  average("[2] scalar", two, 2.0f);
  average("[2,3] of [2]", matrix, two);
  average("[2,3] of [2,1]", matrix, column);
  average("[2,1] of [2]", column, two);
  average("[2] of [2,1], size 4", two, column, 4);
  average("[2] of [3]", two, Tensor{1.0f, 2.0f, 3.0f});
  average("[2,3] of [2,3]", matrix, f32({2, 3}, {1, 0, 1, 0, 1, 0}));
  average("[2,3] of [3]", matrix, Tensor{1.0f, 2.0f, 3.0f});
  average("[2,3] of [1,3]", matrix, f32({1, 3}, {1, 2, 3}));
  average("[3,3] of [3]", counted({3, 3}, 0), Tensor{1.0f, 0.0f, 2.0f});
  average("[2,3,2] of [2,3]", counted({2, 3, 2}, 0), f32({2, 3}, {1, 2, 0, 1, 0, 1}));
  average("[2,3,2] of [2]", counted({2, 3, 2}, 0), two);
  average("integers", Tensor{int32_t(1), int32_t(2)}, {});
  average("integers of [2,1]", Tensor{int32_t(1), int32_t(2)}, column);
  average("a scalar", 1.0f, {});
  average("a scalar of size 2", 1.0f, {}, 2);
}

class OneNumber : public nn::Loss {
 public:
  OneNumber() : nn::Loss(nn::Reduction::Auto) {}

 private:
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    return dist::reduce_sum(dist::square(y_true - y_pred));
  }
};

void loss(const std::string& name, const Tensor& prediction, const Tensor& weight,
          const nn::Loss& made = nn::MeanSquaredError()) {
  run_case("weights/" + name,
           [&] { return made(dist::zeros_like(prediction), prediction, weight); });
}

void object_cases() {
  const Tensor two = f32({2, 1}, {1, 2}), steps = counted({2, 3, 1}, 1);
  loss("mse [2] scalar", two, 2.0f);
  loss("mse [2] of [2,1]", two, f32({2, 1}, kRow));
  loss("mse [2] of [3]", two, Tensor{1.0f, 2.0f, 3.0f});
  loss("mse [2] of [1]", two, Tensor{3.0f});
  loss("mse [2,3] of [2]", steps, f32({2}, kRow));
  loss("mse [2,3] of [2,1]", steps, f32({2, 1}, kRow));
  loss("mse [2,3] of [2,3]", steps, f32({2, 3}, kFull));
  loss("mse [2,3] of [2,3,1]", steps, f32({2, 3, 1}, kFull));
  loss("mse [2,3] of [2,1,1]", steps, f32({2, 1, 1}, kRow));
  loss("mse [2,3] of [3]", steps, Tensor{1.0f, 0.0f, 2.0f});
  loss("mse [2,2] of [2]", counted({2, 2, 1}, 1), f32({2}, kRow));
  loss("one number", two, {}, OneNumber());
  loss("one number, scalar", two, 2.0f, OneNumber());
  for (const auto& [name, reduction] : reductions())
    for (const auto& [text, weight] : weights())
      loss(dist::str_cat(name, ", ", text), steps, weight, nn::MeanSquaredError({reduction}));
  const Tensor half = f32({2, 2}, {0.5f, 0.5f, 0.25f, 0.75f});
  const nn::SparseCategoricalCrossentropy sparse;
  run_case("weights/sparse of [2,1]", [&] {
    return sparse(Tensor{int32_t(0), int32_t(1)}, half, f32({2, 1}, {1, 2}));
  });
  run_case("weights/sparse columns of [2]", [&] {
    return sparse(Tensor({2, 1}, std::vector<int32_t>{0, 1}), half, Tensor{1.0f, 2.0f});
  });
}

void weighted_metric_cases() {
  using nn::metrics::Mean;
  const Tensor matrix = f32({2, 3}, kMatrix), row = f32({1, 2}, {10, 20});
  const Tensor two = f32({2, 1}, {1, 2}), weight = f32({2}, kRow), column = f32({2, 1}, kRow);
  const auto mean = [](const char* name, const auto&... calls) {
    updated<Mean>(dist::str_cat("weights/mean, ", name), {calls...});
  };
  mean("[2] of [2,1]", Values{Tensor{1.0f, 2.0f}, column});
  mean("[2,3] of [2]", Values{matrix, weight});
  mean("[2,3] of [2,1]", Values{matrix, column});
  mean("[2,3] of [3]", Values{matrix, Tensor{1.0f, 2.0f, 3.0f}});
  mean("[2,1] of [2]", Values{two, weight});
  mean("[2,1] of [2,3]", Values{two, matrix});
  mean("[2,3,2] of [2]", Values{counted({2, 3, 2}, 0), weight});
  mean("[2,3,2] of [2,3]", Values{counted({2, 3, 2}, 0), f32({2, 3}, {1, 3, 0, 1, 0, 0})});
  mean("scalar weights", Values{Tensor{1.0f, 2.0f, 3.0f}, 2.0f}, Values{Tensor{10.0f}, 2.0f});
  mean("[2,3], then [1,2]", Values{matrix}, Values{row});
  mean("[2,3] of [2], then [1,2] of [1]", Values{matrix, Tensor{1.0f, 2.0f}},
       Values{row, Tensor{3.0f}});
  mean("[2,3] of [2,3], then [1,2] of [1,2]", Values{matrix, f32({2, 3}, {1, 2, 0, 1, 0, 0})},
       Values{row, f32({1, 2}, {3, 1})});
  mean("scalars", Values{3.0f}, Values{5.0f, 2.0f});
  updated<nn::metrics::Sum>("weights/sum, a scalar", {{matrix, 2.0f}});
  updated<nn::metrics::Sum>("weights/sum, [2]", {{matrix, Tensor{1.0f, 2.0f}}});
  updated<nn::metrics::MeanAbsoluteError>(
      "weights/mae, 2 steps, then 4", {{dist::zeros({2, 2, 1}), counted({2, 2, 1}, 1)},
                                       {dist::zeros({1, 4, 1}), 10.0f * counted({1, 4, 1}, 1)}});
  updated<nn::metrics::RootMeanSquaredError>("weights/rmse of [2]",
                                             {{dist::zeros({2, 3}), matrix, weight}});
  const Tensor y = f32({2, 1}, {1, 0}), p = f32({2, 1}, {0.9f, 0.8f});
  updated<nn::metrics::BinaryAccuracy>("weights/binary accuracy of [2]", {{y, p, weight}});
  updated<nn::metrics::BinaryAccuracy>("weights/binary accuracy of [2,1]", {{y, p, column}});
  updated<nn::metrics::Precision>(
      "weights/precision of [3]",
      {{Tensor{1.0f, 0.0f, 1.0f}, Tensor{0.9f, 0.8f, 0.2f}, Tensor{1.0f, 2.0f, 3.0f}}});
  updated<nn::metrics::AUC>("weights/auc of [2,1]", {{y, f32({2, 1}, {0.9f, 0.6f}), column}});
}

struct ShapePair {
  const char* text;
  dist::Shape y, p;
};
const std::vector<ShapePair>& shape_pairs() {
  static const std::vector<ShapePair> pairs{
      {"[4,1] [4]", {4, 1}, {4}},           {"[4] [4,1]", {4}, {4, 1}},
      {"[4,1] [4,1]", {4, 1}, {4, 1}},      {"[4] [4]", {4}, {4}},
      {"[2,2,1] [2,2]", {2, 2, 1}, {2, 2}}, {"[2,2] [2,2,1]", {2, 2}, {2, 2, 1}}};
  return pairs;
}

Tensor truth(const dist::Shape& shape) { return f32(shape, {1, 0, 1, 0}); }
Tensor guess(const dist::Shape& shape) { return f32(shape, {0.9f, 0.2f, 0.4f, 0.6f}); }

template <typename Loss>
void shapes_of(const char* name) {
  for (const ShapePair& pair : shape_pairs())
    run_case(dist::str_cat("shapes/", name, " ", pair.text),
             [&] { return Loss()(truth(pair.y), guess(pair.p)); });
}

template <typename Metric>
void metric_shapes_of(const char* name) {
  for (size_t i = 0; i < 3; ++i) {
    const ShapePair& pair = shape_pairs()[i];
    updated<Metric>(dist::str_cat("shapes/metric ", name, " ", pair.text),
                    {{truth(pair.y), guess(pair.p)}});
  }
}

void shape_cases() {
  shapes_of<nn::MeanSquaredError>("MeanSquaredError");
  shapes_of<nn::MeanAbsoluteError>("MeanAbsoluteError");
  shapes_of<nn::MeanAbsolutePercentageError>("MeanAbsolutePercentageError");
  shapes_of<nn::MeanSquaredLogarithmicError>("MeanSquaredLogarithmicError");
  shapes_of<nn::Huber>("Huber");
  shapes_of<nn::LogCosh>("LogCosh");
  shapes_of<nn::CosineSimilarity>("CosineSimilarity");
  shapes_of<nn::Hinge>("Hinge");
  shapes_of<nn::SquaredHinge>("SquaredHinge");
  shapes_of<nn::CategoricalHinge>("CategoricalHinge");
  shapes_of<nn::KLDivergence>("KLDivergence");
  shapes_of<nn::Poisson>("Poisson");
  shapes_of<nn::BinaryCrossentropy>("BinaryCrossentropy");
  shapes_of<nn::CategoricalCrossentropy>("CategoricalCrossentropy");
  shapes_of<nn::BinaryFocalCrossentropy>("BinaryFocalCrossentropy");
  shapes_of<nn::CategoricalFocalCrossentropy>("CategoricalFocalCrossentropy");
  metric_shapes_of<nn::metrics::KLDivergence>("KLDivergence");
  metric_shapes_of<nn::metrics::Poisson>("Poisson");
  metric_shapes_of<nn::metrics::Hinge>("Hinge");
  metric_shapes_of<nn::metrics::LogCoshError>("LogCoshError");
  metric_shapes_of<nn::metrics::BinaryCrossentropy>("BinaryCrossentropy");
}

}  // namespace

std::vector<std::pair<const char*, nn::Reduction>> reductions() {
  return {{"sum", nn::Reduction::Sum},
          {"none", nn::Reduction::None},
          {"mean", nn::Reduction::Mean},
          {"mean_with_sample_weight", nn::Reduction::MeanWithSampleWeight},
          {"sum_over_batch_size", nn::Reduction::SumOverBatchSize}};
}

std::vector<std::pair<const char*, Tensor>> weights() {
  return {{"no weights", Tensor()},
          {"a scalar", Tensor(2.0f)},
          {"[2,1]", f32({2, 1}, kRow)},
          {"[2,3]", f32({2, 3}, kFull)}};
}

Tensor counted(const dist::Shape& shape, float first) {
  std::vector<float> values(size_t(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + float(i);
  return f32(shape, values);
}

void weight_cases() {
  average_cases();
  object_cases();
  weighted_metric_cases();
  shape_cases();
  mask_cases();
  weighted_fit_cases();
}

}  // namespace comparison
