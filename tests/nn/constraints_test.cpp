// Numbers printed by Keras 3.15 with TensorFlow 2.21.
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/nn/regularizers.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include "support/catch.hpp"
#include "support/check_close.hpp"

using namespace distribute;
namespace constraints = nn::constraints;

namespace {

const Tensor w(Shape{2, 3}, std::vector<float>{1, -2, 0.5f, 3, 0, -0.25f});

/// Two steps of Keras's fit with mse: [kernel], [bias].
std::pair<Tensor, Tensor> trained(optim::SGDOptions options, bool finalize) {
  const Tensor x(Shape{2, 3}, std::vector<float>{1, 2, 3, 0.5f, -1, 1});
  const Tensor y(Shape{2, 2}, std::vector<float>{1, -1, -2, 0});
  nn::Dense dense({.units = 2,
                   .kernel_initializer = nn::initializers::ones(),
                   .kernel_constraint = constraints::non_neg(),
                   .bias_constraint = constraints::max_norm(0.1)});
  optim::SGD sgd(options);
  for (int step = 0; step < 2; ++step) {
    GradientTape tape;
    const Tensor loss = nn::MeanSquaredError()(y, dense(x));
    sgd.minimize(loss, dense.trainable_variables(), tape);
  }
  if (finalize) sgd.finalize_variable_values(dense.trainable_variables());
  return {dense.kernel().value(), dense.bias().value()};
}

}  // namespace

TEST_CASE("constraints give Keras's numbers", "[nn][constraints]") {
  check_close(constraints::max_norm(2)(w),
              {0.6324555, -2.0, 0.4999999, 1.8973665, 0.0, -0.2499999});
  check_close(constraints::max_norm(1, {1})(w),
              {0.4364358, -0.8728715, 0.2182179, 0.9965458, 0.0, -0.0830455});
  check_close(constraints::max_norm(1, {0, 1})(w),
              {0.2643274, -0.5286549, 0.1321637, 0.7929823, 0.0, -0.0660819});
  check_close(constraints::non_neg()(w), {1, 0, 0.5, 3, 0, 0});
  check_close(constraints::unit_norm()(w), {0.3162278, -1.0, 0.894427, 0.9486833, 0.0, -0.4472135});
  check_close(constraints::unit_norm({1})(w),
              {0.4364358, -0.8728715, 0.2182179, 0.9965458, 0.0, -0.0830455});
  check_close(constraints::min_max_norm(0.5, 1.5)(w),
              {0.4743416, -1.5, 0.4999999, 1.4230249, 0.0, -0.2499999});
  check_close(constraints::min_max_norm(1, 2, 0.25, {1})(w),
              {0.9682178, -1.9364357, 0.4841089, 2.7482729, 0.0, -0.2290227});
}

TEST_CASE("optimizers keep constraints after each update", "[nn][constraints]") {
  const auto [kernel, bias] = trained({.learning_rate = 0.5f}, false);
  check_close(kernel, {0.0265165, 0, 1.0176777, 0, 0.3207107, 0}, 1e-6);
  check_close(bias, {-0.0707107, -0.0707107}, 1e-6);
}

// Averages are those of the weights before their constraints, and replace them before these.
TEST_CASE("constraints come after weights were overwritten with averages", "[nn][constraints]") {
  const auto [kernel, bias] = trained(
      {.learning_rate = 0.5f, .use_ema = true, .ema_momentum = 0.5, .ema_overwrite_frequency = 1},
      true);
  check_close(kernel, {-0.2679918, -0.5179918, 0.0713388, -1.4286611, -1.5271447, -2.5271447},
              1e-6);
  check_close(bias, {-1.0801777, -1.0801777}, 1e-6);
}

TEST_CASE("replicas keep a constraint alike", "[nn][constraints]") {
  MirroredStrategy strategy({"/cpu:0", "/cpu:1"});
  const auto scope = strategy.scope();
  nn::Dense dense({.units = 2, .kernel_constraint = constraints::unit_norm()});
  optim::SGD sgd({.learning_rate = 0.5f});
  strategy.run([&] {
    GradientTape tape;
    const Tensor loss = reduce_sum(square(dense(w)));
    sgd.minimize(loss, dense.trainable_variables(), tape);
  });
  const auto& impl = dense.kernel().impl();
  for (int replica = 0; replica < 2; ++replica)
    check_close(sqrt(reduce_sum(square(impl.component(replica)), {0})), {1, 1}, 1e-5);
}

TEST_CASE("layers give their weights the constraints of their options", "[nn][constraints]") {
  const nn::Constraint c = constraints::non_neg();
  const auto constrained = [](nn::Module& layer, const Tensor& x) {
    layer(x);
    std::vector<std::string> names;
    for (const Variable& variable : layer.variables())
      if (variable.constraint())
        names.push_back(variable.name().substr(variable.name().rfind('/')));
    return names;
  };
  using Names = std::vector<std::string>;
  nn::Conv2D conv({.filters = 1, .kernel_constraint = c, .bias_constraint = c});
  nn::Conv1D steps({.filters = 1, .kernel_constraint = c, .bias_constraint = c});
  nn::Conv2DTranspose up({.filters = 1, .kernel_constraint = c, .bias_constraint = c});
  nn::DepthwiseConv2D depth({.depthwise_constraint = c, .bias_constraint = c});
  nn::Embedding table({.input_dim = 2, .output_dim = 1, .embeddings_constraint = c});
  nn::LSTM lstm(
      {.units = 1, .kernel_constraint = c, .recurrent_constraint = c, .bias_constraint = c});
  CHECK(constrained(conv, zeros({1, 2, 2, 1})) == Names{"/kernel", "/bias"});
  CHECK(constrained(steps, zeros({1, 2, 1})) == Names{"/kernel", "/bias"});
  CHECK(constrained(up, zeros({1, 2, 2, 1})) == Names{"/kernel", "/bias"});
  CHECK(constrained(depth, zeros({1, 2, 2, 1})) == Names{"/kernel", "/bias"});
  CHECK(constrained(table, zeros({1, 2}, DType::Int64)) == Names{"/embeddings"});
  CHECK(constrained(lstm, zeros({1, 2, 1})) == Names{"/kernel", "/recurrent_kernel", "/bias"});
}
