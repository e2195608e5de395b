#pragma once
/// Compares gradients of the tape with differences of the function's values.

#include "catch.hpp"
#include "watching_tape.hpp"

#include <distribute/autograd/gradient_tape.hpp>

struct GradientCheckOptions {
  double step = 1e-2;        // of the four-point difference, for inputs near 1
  double tolerance = 5e-3;   // relative to the largest entry of an input's gradient
  bool second = false;       // also checks the gradients of the gradients
  int64_t per_element = 64;  // larger inputs are checked along random directions
  int directions = 8;
  uint64_t seed = 1;
};

namespace gradient_check_internal {

using distribute::DType;
using distribute::GradientTape;
using distribute::Tensor;
using Tensors = std::vector<Tensor>;
using Function = std::function<Tensors(const Tensors&)>;

/// Numbers in [-1, 1), the same on every machine (splitmix64).
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  float next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return float(int64_t((z ^ (z >> 31)) >> 40) - (1 << 23)) * 0x1p-23f;
  }
  std::vector<float> vector(int64_t count) {
    std::vector<float> result(static_cast<size_t>(count));
    for (float& value : result) value = next();
    return result;
  }

 private:
  uint64_t state_;
};

inline double weighted_sum(const Tensors& outputs, const std::vector<std::vector<float>>& weights) {
  double sum = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::vector<float> values = outputs[i].to_vector();
    for (size_t j = 0; j < values.size(); ++j) sum += double(values[j]) * double(weights[i][j]);
  }
  return sum;
}

/// Gradients of sum(weights * fn(inputs)), one for each float32 input.
inline Tensors tape_gradients(const Function& fn, const Tensors& inputs,
                              const std::vector<std::vector<float>>& weights) {
  GradientTape tape;
  Tensors sources, output_gradients;
  for (const Tensor& input : inputs)
    if (input && input.dtype() == DType::Float32) tape.watch(input), sources.push_back(input);
  const Tensors outputs = fn(inputs);
  for (size_t i = 0; i < outputs.size(); ++i)
    output_gradients.emplace_back(outputs[i].shape(), weights[i]);
  return tape.gradient(outputs, sources,
                       {.output_gradients = output_gradients,
                        .unconnected = distribute::UnconnectedGradients::Zero});
}

/// (d/dt) of `value(t)` at 0 by the four-point rule: its error falls with step^4.
template <typename Value>
double difference(const Value& value, double step) {
  return (8 * (value(step) - value(-step)) - (value(2 * step) - value(-2 * step))) / (12 * step);
}

inline void check(const Function& fn, const Tensors& inputs, const GradientCheckOptions& options,
                  const std::string& what) {
  Numbers numbers(options.seed);
  std::vector<std::vector<float>> weights;
  for (const Tensor& output : fn(inputs)) weights.push_back(numbers.vector(output.num_elements()));
  const Tensors gradients = tape_gradients(fn, inputs, weights);
  for (size_t i = 0, source = 0; i < inputs.size(); ++i) {
    if (!inputs[i] || inputs[i].dtype() != DType::Float32) continue;
    const Tensor& gradient = gradients[source++];
    INFO(what << " with respect to input " << i);
    REQUIRE(gradient.shape() == inputs[i].shape());
    const std::vector<float> point = inputs[i].to_vector(), slope = gradient.to_vector();
    const int64_t count = int64_t(point.size());
    const bool every = count <= options.per_element;
    double largest = 0, worst = 0;
    std::string detail;
    for (int64_t n = 0; n < (every ? count : options.directions); ++n) {
      std::vector<float> direction(point.size());
      if (every) direction[size_t(n)] = 1;
      if (!every) direction = numbers.vector(count);
      const auto value = [&](double t) {
        std::vector<float> moved = point;
        for (size_t j = 0; j < moved.size(); ++j) moved[j] += float(t) * direction[j];
        Tensors at = inputs;
        at[i] = Tensor(inputs[i].shape(), moved);
        return weighted_sum(fn(at), weights);
      };
      double expected = difference(value, options.step), actual = 0;
      for (size_t j = 0; j < slope.size(); ++j) actual += double(slope[j]) * double(direction[j]);
      largest = std::max({largest, std::abs(expected), std::abs(actual)});
      if (!(std::abs(expected - actual) <= worst)) {
        worst = std::abs(expected - actual);
        detail = distribute::str_cat("entry ", n, ": tape ", actual, ", difference ", expected);
      }
    }
    INFO(detail);
    CHECK(worst <= options.tolerance * std::max(largest, 0.1));
  }
}

/// The gradients of `fn` as a function of the inputs.
inline Function derivative(const Function& fn, uint64_t seed) {
  return [fn, seed](const Tensors& inputs) {
    Numbers numbers(seed + 17);
    std::vector<std::vector<float>> weights;
    for (const Tensor& output : fn(inputs))
      weights.push_back(numbers.vector(output.num_elements()));
    return tape_gradients(fn, inputs, weights);
  };
}

}  // namespace gradient_check_internal

/// Checks the gradients of a function of several outputs at `inputs`; inputs that are not float32
/// (labels, indices) and none are passed on but not varied. Keep inputs away from kinks by more
/// than twice the step.
inline void check_gradients(
    const std::function<std::vector<distribute::Tensor>(const std::vector<distribute::Tensor>&)>&
        fn,
    const std::vector<distribute::Tensor>& inputs, const GradientCheckOptions& options = {}) {
  using namespace gradient_check_internal;
  check(fn, inputs, options, "gradient");
  if (options.second) check(derivative(fn, options.seed), inputs, options, "second derivative");
}

/// The form for one output: check_gradient([](auto& in) { return in[0] * in[1]; }, {a, b}).
inline void check_gradient(
    const std::function<distribute::Tensor(const std::vector<distribute::Tensor>&)>& fn,
    const std::vector<distribute::Tensor>& inputs, const GradientCheckOptions& options = {}) {
  check_gradients(
      [fn](const std::vector<distribute::Tensor>& in) {
        return std::vector<distribute::Tensor>{fn(in)};
      },
      inputs, options);
}

/// A float32 tensor of fixed pseudo-random numbers in [low, high).
inline distribute::Tensor test_tensor(const distribute::Shape& shape, uint64_t seed = 1,
                                      float low = -1, float high = 1) {
  std::vector<float> values =
      gradient_check_internal::Numbers(seed * 7919).vector(shape.num_elements());
  for (float& value : values) value = low + (high - low) * (value + 1) / 2;
  return {shape, values};
}
