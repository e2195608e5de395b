// What crossentropies make of predictions that softmax and sigmoid gave, and of values that are no
// probabilities. Numbers printed by Keras 3.15 with TensorFlow 2.21.
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/detail/crossentropy_scores.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/mean_metrics.hpp>
#include <distribute/nn/regression_losses.hpp>
#include <distribute/ops/math.hpp>

#include "support/catch.hpp"
#include "support/caught_log.hpp"
#include "support/check_close.hpp"

using namespace distribute;

namespace {

const Tensor& scores() {
  static const Tensor x(Shape{2, 3}, std::vector<float>{30, 0, -30, 0.5f, -1, 2});
  return x;
}
Tensor classes() { return Tensor({2}, std::vector<int64_t>{2, 0}); }
Tensor targets() { return Tensor(Shape{2, 3}, std::vector<float>{0, 0, 1, 1, 0, 0}); }

/// Lines of the log while `use` runs, in a process that has warned of nothing yet.
std::vector<std::string> warnings_of(const std::function<void()>& use) {
  auto& state = in_process<nn::nn_internal::ScoreWarnings>();
  state.given.clear();
  CaughtLog log;
  use();
  return log.lines;
}

}  // namespace

TEST_CASE("losses take the logits that softmax and sigmoid were made of", "[nn][loss]") {
  nn::Activation softmax(nn::softmax), sigmoid(nn::sigmoid);
  const nn::SparseCategoricalCrossentropy sparse;
  const nn::CategoricalCrossentropy categorical;
  const nn::BinaryCrossentropy binary;
  const nn::BinaryFocalCrossentropy focal;
  check_close(sparse(classes(), softmax(scores())), {30.870655}, 1e-5);
  check_close(sparse(classes(), nn::Softmax()(scores())), {30.870655}, 1e-5);
  check_close(categorical(targets(), softmax(scores())), {30.870655}, 1e-5);
  check_close(categorical(targets(), sigmoid(scores())), {30.870655}, 1e-5);
  check_close(binary(targets(), sigmoid(scores())), {10.601235}, 1e-5);
  check_close(binary(targets(), softmax(scores())), {10.601235}, 1e-5);
  check_close(focal(targets(), sigmoid(scores())), {10.318933}, 1e-5);
}

TEST_CASE("losses limit probabilities that come from elsewhere", "[nn][loss]") {
  const nn::SparseCategoricalCrossentropy sparse;
  check_close(sparse(classes(), nn::softmax(scores())), {8.929704}, 1e-5);
}

TEST_CASE("metrics take the logits, too", "[nn][metrics]") {
  nn::metrics::SparseCategoricalCrossentropy metric;
  metric.update_state(classes(), nn::Activation(nn::softmax)(scores()));
  check_close(metric.result(), {30.870655}, 1e-5);
}

// One step of SGD 0.1 in Keras's fit over an identity leaves this kernel.
TEST_CASE("a prediction that is as wrong as can be has a slope", "[nn][loss]") {
  nn::Dense dense({.units = 3, .activation = nn::softmax});
  dense(scores());
  dense.kernel().assign(Tensor(Shape{3, 3}, std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  GradientTape tape;
  const Tensor loss = nn::SparseCategoricalCrossentropy()(classes(), dense(scores()));
  const Tensor slope = tape.gradient(loss, dense.kernel());
  check_close(dense.kernel().value() - slope * 0.1f,
              {-0.479382, -0.000978, 1.480360, -0.041235, 1.001956, 0.039280, 1.582471, -0.003911,
               -0.578560},
              1e-5);
}

TEST_CASE("losses of probabilities warn once of values that are none", "[nn][loss]") {
  const auto warnings = warnings_of([] {
    nn::sparse_categorical_crossentropy(classes(), scores());
    nn::sparse_categorical_crossentropy(classes(), scores());
    nn::binary_crossentropy(targets(), scores());
  });
  REQUIRE(warnings.size() == 2);
  CHECK_THAT(warnings[0],
             Contains("sparse_categorical_crossentropy wants") && Contains("from_logits"));
  CHECK_THAT(warnings[1], Contains("binary_crossentropy wants"));
}

TEST_CASE("losses do not warn of what they are made for", "[nn][loss]") {
  CHECK(warnings_of([] {
          nn::sparse_categorical_crossentropy(classes(), nn::softmax(scores()));
          nn::sparse_categorical_crossentropy(classes(), scores(), {.from_logits = true});
          nn::categorical_crossentropy(targets(), targets());
          nn::categorical_crossentropy(targets(), nn::Softmax()(scores()));
        }).empty());
}

TEST_CASE("losses warn of from_logits over softmax", "[nn][loss]") {
  const auto warnings = warnings_of([] {
    const Tensor losses = nn::sparse_categorical_crossentropy(
        classes(), nn::Activation(nn::softmax)(scores()), {.from_logits = true});
    check_close(losses, {60, 1.741311}, 1e-5);
  });
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Contains("softmax or sigmoid"));
}
