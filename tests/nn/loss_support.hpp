#pragma once
/// Compares a loss and its gradient with Keras's figures.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/variable.hpp>
#include <distribute/ops/reduce.hpp>

#include "support/catch.hpp"

namespace distribute_test {

using distribute::Tensor;

inline const Tensor kLogits({3, 3}, std::vector<float>{2, -1, 0.5f, 0.1f, 0.2f, -3, 0, 4, 1});
inline const Tensor kOneHot({3, 3}, std::vector<float>{1, 0, 0, 0, 0, 1, 0, 1, 0});
inline const Tensor kNumbers({3, 3}, std::vector<float>{1, -2, 3, 0, 0.5f, -0.25f, 4, 2, 0.1f});
inline const Tensor kProbabilities({3, 3}, std::vector<float>{.7f, .2f, .1f, .05f, .05f, .9f, .3f,
                                                              .3f, .4f});
inline const Tensor kOtherProbabilities({3, 3}, std::vector<float>{.5f, .25f, .25f, .1f, .1f, .8f,
                                                                   .2f, .6f, .2f});

inline void check_numbers(const Tensor& got, const std::vector<double>& wanted) {
  const std::vector<float> values = got.to_vector();
  REQUIRE(values.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    INFO("element " << i);
    CHECK(values[i] == Approx(wanted[i]).epsilon(5e-6).margin(2e-7));
  }
}

/// The losses of the examples, and the gradient of their sum by the predictions.
inline void check_loss(const std::function<Tensor(const Tensor&, const Tensor&)>& loss,
                       const Tensor& y_true, const Tensor& y_pred,
                       const std::vector<double>& losses, const std::vector<double>& gradient) {
  const distribute::Variable predictions(y_pred);
  distribute::GradientTape tape;
  const Tensor got = loss(y_true, predictions.value());
  check_numbers(got, losses);
  check_numbers(tape.gradient(distribute::reduce_sum(got), predictions), gradient);
}

}  // namespace distribute_test
