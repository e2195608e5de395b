#pragma once
/// Compares layers with what Keras gave: tests/data/layers/keras_layers.json, whose script has the
/// same formula for weights and inputs.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/json.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <nlohmann/json.hpp>

#include <tests/support/hashed_numbers.hpp>
#include <tests/support/source_dir.hpp>
#include "support/catch.hpp"

namespace keras_layers {

using distribute::Shape;
using distribute::Tensor;
namespace nn = distribute::nn;

inline Tensor uniform(const Shape& shape, uint64_t seed, float scale = 1) {
  return distribute::testing::hashed_numbers(shape, seed, scale);
}

inline Tensor mask(const Shape& shape, const std::vector<int>& bits) {
  Tensor all = Tensor::empty(shape, distribute::DType::Bool);
  for (size_t i = 0; i < bits.size(); ++i) all.mutable_data<bool>()[i] = bits[i] != 0;
  return all;
}
/// A gap, both ends, none.
inline Tensor gaps() { return mask({3, 4}, {1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1}); }
/// Padding behind; one is all padding.
inline Tensor padding() { return mask({3, 4}, {1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}); }

inline const nlohmann::json& answers() {
  static const nlohmann::json all = [] {
    std::ifstream file(distribute::testing::source_dir() + "/tests/data/layers/keras_layers.json");
    return nlohmann::json::parse(file);
  }();
  return all["cases"];
}

inline Shape shape_of(const nlohmann::json& sizes) {
  const auto list = sizes.get<std::vector<int64_t>>();
  return Shape(std::span<const int64_t>(list));
}

inline void check_values(const std::string& what, const Tensor& actual,
                         const nlohmann::json& expected, double tolerance) {
  INFO(what);
  REQUIRE(actual);
  const std::vector<float> ours = actual.to_vector();
  const auto theirs = expected.get<std::vector<double>>();
  REQUIRE(ours.size() == theirs.size());
  double largest = 0, worst = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    largest = std::max(largest, std::abs(theirs[i]));
    const double difference = std::abs(double(ours[i]) - theirs[i]);
    if (!(difference <= worst)) worst = difference;
  }
  INFO("largest difference " << worst << " of values up to " << largest);
  CHECK(worst <= tolerance * std::max(largest, 0.1));
}

/// Calls layers as the script's case did.
using Call = std::function<Tensor(const std::vector<Tensor>& inputs)>;

/// Weights by their names below the layer's: "lstm_cell/kernel"; of several layers with the layer's
/// name before it.
inline std::map<std::string, distribute::Variable> weights_of(const std::vector<nn::Module*>& all) {
  std::map<std::string, distribute::Variable> weights;
  for (const nn::Module* layer : all)
    for (const distribute::Variable& weight : layer->trainable_variables()) {
      const std::string& name = weight.name();
      weights.emplace(all.size() > 1 ? name : name.substr(name.find('/') + 1), weight);
    }
  return weights;
}

/// Output and gradients of case `name`.
inline void check(const std::string& name, const std::vector<nn::Module*>& layers, const Call& call,
                  double tolerance = 2e-6) {
  INFO(name);
  const nlohmann::json& answer = answers()[name];
  std::vector<distribute::Variable> sources;
  for (const auto& sizes : answer["inputs"])
    sources.emplace_back(uniform(shape_of(sizes), 500 + sources.size()));
  const auto values = [&] {
    std::vector<Tensor> all;
    for (const auto& source : sources) all.push_back(source.value());
    return all;
  };
  call(values());  // builds
  const auto weights = weights_of(layers);
  REQUIRE(weights.size() == answer["weights"].size());
  uint64_t seed = 1;
  for (const auto& [path, weight] : weights) {
    INFO(path);
    REQUIRE(answer["weights"].contains(path));
    REQUIRE(weight.shape() == shape_of(answer["weights"][path]));
    weight.assign(uniform(weight.shape(), seed++, 0.75f));
    sources.push_back(weight);
  }
  distribute::GradientTape tape;
  const Tensor y = call(values());
  REQUIRE(y.shape() == shape_of(answer["shape"]));
  check_values("output", y, answer["output"], tolerance);
  const auto gradients =
      tape.gradient(distribute::reduce_sum(y * uniform(y.shape(), 900)), sources);
  size_t next = 0;
  for (const auto& expected : answer["input_gradients"]) {
    check_values("gradient of input " + std::to_string(next), gradients[next], expected,
                 4 * tolerance);
    ++next;
  }
  for (const auto& [path, weight] : weights)
    check_values("gradient of " + path, gradients[next++], answer["gradients"][path],
                 4 * tolerance);
}

/// Of one layer of one input.
inline void check(const std::string& name, nn::Module& layer, const nn::CallOptions& options = {}) {
  check(name, {&layer}, [&](const auto& in) { return layer(in[0], options); });
}

}  // namespace keras_layers
