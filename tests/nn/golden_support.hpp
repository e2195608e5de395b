#pragma once
/// Runs a layer with fixed weights on fixed inputs, for comparison with Keras's figures.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include "support/catch.hpp"

namespace distribute_test {

using distribute::Shape;
using distribute::Tensor;

/// ((i * factor) % modulo - offset) * scale.
inline Tensor pattern(const Shape& shape, int64_t factor, int64_t modulo, int64_t offset,
                      float scale) {
  std::vector<float> values(size_t(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float((int64_t(i) * factor) % modulo - offset) * scale;
  return Tensor(shape, values);
}

inline Tensor golden_input(const Shape& shape) { return pattern(shape, 1, 7, 3, 0.25f); }

inline void set_golden_weights(distribute::nn::Module& layer) {
  int64_t factor = 3;
  for (const distribute::Variable& weight : layer.variables()) {
    Tensor value = pattern(weight.shape(), factor++, 11, 5, 0.125f);
    if (weight.name().find("variance") != std::string::npos) {
      std::vector<float> positive = value.to_vector();
      for (float& x : positive) x = std::abs(x) + 0.5f;
      value = Tensor(weight.shape(), positive);
    }
    weight.assign(value);
  }
}

/// What Keras gave.
struct Golden {
  Shape shape;
  double loss = 0, sum = 0, squares = 0;
  std::vector<double> gradient_squares;  // of the input, then of each trainable weight
};

inline double sum_of_squares(const Tensor& x) {
  double total = 0;
  for (const float v : x.to_vector()) total += double(v) * v;
  return total;
}

inline void check_golden(distribute::nn::Module& layer, const Shape& input, const Golden& golden,
                         bool training = false) {
  const distribute::Variable x(golden_input(input));
  layer.ensure_built(input);
  set_golden_weights(layer);
  distribute::GradientTape tape;
  const Tensor y = layer(x.value(), {.training = training});
  REQUIRE(y.shape() == golden.shape);
  const Tensor loss = distribute::reduce_sum(y * pattern(y.shape(), 1, 5, 2, 1.0f));
  double sum = 0;
  for (const float v : y.to_vector()) sum += v;
  CHECK(loss.item<float>() == Approx(golden.loss).epsilon(1e-5).margin(1e-5));
  CHECK(sum == Approx(golden.sum).epsilon(1e-5).margin(1e-5));
  CHECK(sum_of_squares(y) == Approx(golden.squares).epsilon(1e-5));
  std::vector<distribute::Variable> sources = layer.trainable_variables();
  sources.insert(sources.begin(), x);
  const std::vector<Tensor> gradients = tape.gradient(loss, sources);
  REQUIRE(gradients.size() == golden.gradient_squares.size());
  for (size_t i = 0; i < gradients.size(); ++i) {
    INFO("gradient " << i);
    REQUIRE(gradients[i]);
    CHECK(sum_of_squares(gradients[i]) ==
          Approx(golden.gradient_squares[i]).epsilon(2e-5).margin(1e-6));
  }
}

}  // namespace distribute_test
