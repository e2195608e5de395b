#include <distribute/device/detail/cpu_onednn.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/policy.hpp>
#include <distribute/nn/resnet.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>

#include "support/catch.hpp"
#include "support/check_close.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;
namespace applications = nn::applications;

namespace {

std::vector<std::string> names_of(const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables) names.push_back(variable.name());
  return names;
}

/// Loss and gradients of one step.
struct Step {
  float loss = 0;
  std::vector<Variable> variables;
  std::vector<Tensor> gradients;
};

Step take_step(nn::Module& model, const Tensor& x, const Tensor& labels) {
  GradientTape tape;
  const Tensor losses = nn::sparse_categorical_crossentropy(labels, model(x, {.training = true}),
                                                            {.from_logits = true});
  const Tensor loss = nn::compute_average_loss(losses, x.shape()[0]);
  Step step{loss.item<float>(), model.trainable_variables(), {}};
  step.gradients = tape.gradient(loss, step.variables);
  return step;
}

double length(const std::vector<float>& values) {
  double sum = 0;
  for (float value : values) sum += double(value) * double(value);
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE("ResNet-50 has Keras's layers in Keras's order", "[nn][resnet]") {
  applications::ResNet model;
  const Tensor y = model(zeros({1, 64, 64, 3}));
  CHECK(y.shape() == Shape{1, 1000});
  // keras.applications.ResNet50 has 25,636,712; v1.5 has no biases in its convolutions (26,560).
  CHECK(model.count_params() == 25'610'152);
  const auto names = names_of(model.variables());
  CHECK(names.size() == 53 * 5 + 2);
  const std::vector<std::string> first(names.begin(), names.begin() + 6);
  CHECK(first == std::vector<std::string>{"conv1_conv/kernel", "conv1_bn/gamma", "conv1_bn/beta",
                                          "conv1_bn/moving_mean", "conv1_bn/moving_variance",
                                          "conv2_block1_1_conv/kernel"});
  const std::vector<std::string> block{
      "conv2_block1_1_conv", "conv2_block1_1_bn",   "conv2_block1_2_conv", "conv2_block1_2_bn",
      "conv2_block1_0_conv", "conv2_block1_3_conv", "conv2_block1_0_bn",   "conv2_block1_3_bn"};
  std::vector<std::string> met;
  for (const std::string& name : names)
    if (name.rfind("conv2_block1_", 0) == 0 &&
        (met.empty() || name.rfind(met.back() + "/", 0) != 0))
      met.push_back(name.substr(0, name.find('/')));
  CHECK(met == block);
  CHECK(names.back() == "predictions/bias");
}

TEST_CASE("version 1 of ResNet-50 has the weights of keras.applications", "[nn][resnet]") {
  applications::ResNet model({.version_1 = true});
  model(zeros({1, 32, 32, 3}));
  CHECK(model.count_params() == 25'636'712);
}

// The shapes and counts that keras.applications.ResNet50(weights=None, ...) prints, Keras 3.15.
TEST_CASE("ResNet-50 ends as Keras's options say", "[nn][resnet]") {
  const auto made = [](applications::ResNetOptions options) {
    options.version_1 = true;
    applications::ResNet model(options);
    const Shape shape = model(zeros({1, 64, 32, 3})).shape();
    return std::pair(shape, model.count_params());
  };
  const auto none = [](applications::Pooling pooling) {
    return applications::ResNetOptions{.include_top = false, .pooling = pooling};
  };
  using applications::Pooling;
  CHECK(made({}) == std::pair(Shape{1, 1000}, int64_t{25'636'712}));
  CHECK(made({.classes = 10, .classifier_activation = nullptr}) ==
        std::pair(Shape{1, 10}, int64_t{23'608'202}));
  CHECK(made(none(Pooling::None)) == std::pair(Shape{1, 2, 1, 2048}, int64_t{23'587'712}));
  CHECK(made(none(Pooling::Avg)) == std::pair(Shape{1, 2048}, int64_t{23'587'712}));
  CHECK(made(none(Pooling::Max)) == std::pair(Shape{1, 2048}, int64_t{23'587'712}));
  CHECK_THROWS_WITH(applications::ResNet({.pooling = Pooling::Max}),
                    Contains("include_top = false"));
}

TEST_CASE("ResNet gives probabilities unless logits are asked for", "[nn][resnet]") {
  applications::ResNet network({.blocks = {1}, .classes = 3});
  applications::ResNet same({.blocks = {1}, .classes = 3, .classifier_activation = nullptr});
  const Tensor x = test_tensor({2, 32, 32, 3});
  network(x), same(x);
  for (size_t i = 0; i < network.variables().size(); ++i)
    same.variables()[i].assign(network.variables()[i].value());
  const std::vector<float> wanted = nn::softmax(same(x)).to_vector();
  check_close(network(x), {wanted.begin(), wanted.end()}, 1e-6);
  const Tensor labels({2}, std::vector<int64_t>{0, 2});
  const nn::SparseCategoricalCrossentropy by_default, of_logits({.from_logits = true});
  check_close(by_default(labels, network(x)), {of_logits(labels, same(x)).item<float>()}, 1e-6);
}

TEST_CASE("the blocks of a network with zero_gamma begin as identities", "[nn][resnet]") {
  applications::ResNet model({.blocks = {2}, .classes = 3, .zero_gamma = true});
  model(zeros({1, 32, 32, 3}));
  int zero = 0, one = 0;
  for (const Variable& variable : model.variables())
    if (variable.name().find("gamma") != std::string::npos)
      (variable.value().to_vector()[0] == 0.0f ? zero : one) += 1;
  CHECK(zero == 2);
  CHECK(one == 6);
}

TEST_CASE("ResNet-9 has its source's weights", "[nn][resnet]") {
  applications::ResNet9 model;
  CHECK(model(zeros({2, 32, 32, 3})).shape() == Shape{2, 10});
  // 6,573,120 and a bias of the last layer; and moving statistics of 2,240 channels.
  CHECK(model.count_params() == 6'573'130 + 2 * 2240);
  CHECK_THROWS_AS(applications::ResNet9({.width = 0}), InvalidArgumentError);
}

TEST_CASE("ResNet-9 learns pictures by heart", "[nn][resnet]") {
  random::set_seed(1);
  applications::ResNet9 model({.width = 4, .classes = 4});
  const Tensor x = test_tensor({8, 16, 16, 3});
  const Tensor labels({8}, std::vector<int64_t>{0, 1, 2, 3, 3, 2, 1, 0});
  const float first = take_step(model, x, labels).loss;
  float last = first;
  for (int i = 0; i < 60; ++i) {
    const Step step = take_step(model, x, labels);
    last = step.loss;
    for (size_t v = 0; v < step.variables.size(); ++v)
      step.variables[v].assign(step.variables[v].value() - step.gradients[v] * 0.2f);
  }
  CHECK(first > 1.0f);
  CHECK(last < 0.05f);
}

TEST_CASE("gradients of a residual network are slopes of its loss", "[nn][resnet]") {
  applications::SmallResNet model({.filters = {4, 8}, .classes = 3, .activation = tanh, .l2 = 0});
  const Tensor x = test_tensor({4, 6, 6, 2});
  const Tensor labels({4}, std::vector<int64_t>{0, 1, 2, 1});
  const Step step = take_step(model, x, labels);
  for (size_t i = 0; i < step.variables.size(); ++i) {
    const Tensor value = step.variables[i].value(), direction = test_tensor(value.shape(), i + 5);
    double slope = 0;
    const auto along = direction.to_vector(), gradient = step.gradients[i].to_vector();
    for (size_t j = 0; j < along.size(); ++j) slope += double(along[j]) * double(gradient[j]);
    const auto loss_at = [&](float t) {
      step.variables[i].assign(value + direction * t);
      return double(take_step(model, x, labels).loss);
    };
    const double difference = (loss_at(5e-3f) - loss_at(-5e-3f)) / 1e-2;
    step.variables[i].assign(value);
    INFO(step.variables[i].name());
    CHECK(std::abs(slope - difference) < 5e-3 * std::max(1.0, std::abs(difference)));
  }
}

TEST_CASE("bfloat16 gradients of a bottleneck network point where float32's do", "[nn][resnet]") {
  const Tensor x = test_tensor({8, 32, 32, 3});
  const Tensor labels({8}, std::vector<int64_t>{0, 1, 2, 3, 4, 0, 1, 2});
  const auto step = [&](const char* policy) {
    random::set_seed(3);
    nn::set_global_policy(policy);
    applications::ResNet model({.blocks = {1, 1}, .classes = 5, .classifier_activation = nullptr});
    nn::set_global_policy("float32");
    return take_step(model, x, labels);
  };
  const Step wide = step("float32"), narrow = step("mixed_bfloat16");
  CHECK(std::abs(wide.loss - narrow.loss) < 0.02f * wide.loss);
  for (size_t i = 0; i < wide.gradients.size(); ++i) {
    INFO(wide.variables[i].name());
    REQUIRE(narrow.gradients[i].dtype() == DType::Float32);
    const auto a = wide.gradients[i].to_vector(), b = narrow.gradients[i].to_vector();
    double product = 0;
    for (size_t j = 0; j < a.size(); ++j) product += double(a[j]) * double(b[j]);
    CHECK(product > 0.95 * length(a) * length(b));
  }
}

TEST_CASE("no kernel of ResNet-50 is a reference implementation", "[nn][resnet]") {
  for (const char* policy : {"float32", "mixed_bfloat16"}) {
    nn::set_global_policy(policy);
    applications::ResNet model({.classes = 10, .classifier_activation = nullptr});
    nn::set_global_policy("float32");
    take_step(model, test_tensor({2, 64, 64, 3}), Tensor({2}, std::vector<int64_t>{1, 2}));
  }
  for (const std::string& kernel : onednn_kernels_in_use()) {
    INFO(kernel);
    CHECK(kernel.find("ref") == std::string::npos);
  }
}

TEST_CASE("residual networks refuse to have no blocks", "[nn][resnet]") {
  CHECK_THROWS_AS(applications::ResNet({.blocks = {}}), InvalidArgumentError);
  CHECK_THROWS_AS(applications::ResNet({.blocks = {1, 0}}), InvalidArgumentError);
  CHECK_THROWS_AS(applications::SmallResNet({.blocks = 0}), InvalidArgumentError);
}
