#pragma once
/// Three steps on two small variables: what every optimizer's test runs against Keras's figures.

#include <distribute/optim/optimizer.hpp>

#include "support/catch.hpp"

namespace distribute_test {

using distribute::Tensor;
using distribute::Variable;

struct ThreeSteps {
  Variable w{Tensor{0.5f, -1.2f, 3.0f, 0.01f}, {.name = "w"}};
  Variable bias{Tensor{1.0f, -2.0f}, {.name = "bias"}};

  std::vector<Variable> variables() const { return {w, bias}; }
  static std::vector<Tensor> gradients(int step) {
    if (step == 0) return {Tensor{0.1f, -0.2f, 0.3f, 0.0f}, Tensor{3.0f, -4.0f}};
    if (step == 1) return {Tensor{-0.4f, 0.05f, 2.0f, 1e-4f}, Tensor{0.0f, 0.25f}};
    return {Tensor{0.7f, 0.6f, -0.5f, 0.0f}, Tensor{-1.0f, 1.5f}};
  }
  void run(distribute::optim::Optimizer& optimizer) const {
    for (int step = 0; step < 3; ++step) optimizer.apply_gradients(gradients(step), variables());
  }
};

inline void check_values(const Tensor& got, const std::vector<float>& wanted,
                         double tolerance = 1e-6) {
  const std::vector<float> values = got.to_vector();
  REQUIRE(values.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    INFO("element " << i);
    CHECK(values[i] == Approx(wanted[i]).epsilon(tolerance).margin(tolerance));
  }
}

/// Runs three steps and compares both variables with Keras's.
inline void check_formula(distribute::optim::Optimizer& optimizer, const std::vector<float>& w,
                          const std::vector<float>& bias) {
  const ThreeSteps steps;
  steps.run(optimizer);
  check_values(steps.w.value(), w);
  check_values(steps.bias.value(), bias);
  CHECK(optimizer.iterations() == 3);
}

}  // namespace distribute_test
