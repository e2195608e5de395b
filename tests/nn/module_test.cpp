#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/random.hpp>

#include "golden_support.hpp"
#include "two_replicas.hpp"

using namespace distribute;
using namespace distribute_test;

namespace {

/// Two convolutions with a shortcut, written as a user would.
class Block : public nn::Module {
 public:
  explicit Block(int64_t filters) : filters_(filters) {}

 private:
  Tensor call(const Tensor& x, nn::CallOptions options) override {
    const Tensor y = nn::tanh(norm_(conv1_(x, options), options));
    return nn::tanh(conv2_(y, options) + x);
  }
  std::string kind() const override { return "block"; }

  int64_t filters_;
  nn::Conv2D& conv1_ = add("conv1", nn::Conv2D({.filters = filters_,
                                                .kernel_size = 3,
                                                .padding = Padding::Same,
                                                .kernel_regularizer = nn::regularizers::l2(0.1f)}));
  nn::BatchNormalization& norm_ = add("norm", nn::BatchNormalization());
  nn::Conv2D& conv2_ = add("conv2", nn::Conv2D({.filters = filters_, .use_bias = false}));
};

/// A module with a weight of its own.
class Scale : public nn::Module {
 public:
  int builds = 0;

 private:
  Tensor call(const Tensor& x, nn::CallOptions) override { return x * factor_.value(); }
  void build(const Shape& input) override {
    ++builds;
    factor_ = add_weight("factor", {input[-1]}, nn::initializers::random_normal());
  }
  std::string kind() const override { return "scale"; }
  Variable factor_;
};

std::vector<std::string> names_of(const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables) names.push_back(variable.name());
  return names;
}

}  // namespace

TEST_CASE("weights of nested modules are named by their path", "[nn][module]") {
  nn::Sequential model(Block(2), Block(2), nn::Flatten(), nn::Dense({.units = 3, .name = "fc"}));
  CHECK(model.variables().empty());
  model(ones({1, 4, 4, 2}));
  CHECK(names_of(model.variables()) ==
        std::vector<std::string>{
            "sequential/block/conv1/kernel", "sequential/block/conv1/bias",
            "sequential/block/norm/gamma", "sequential/block/norm/beta",
            "sequential/block/norm/moving_mean", "sequential/block/norm/moving_variance",
            "sequential/block/conv2/kernel", "sequential/block_1/conv1/kernel",
            "sequential/block_1/conv1/bias", "sequential/block_1/norm/gamma",
            "sequential/block_1/norm/beta", "sequential/block_1/norm/moving_mean",
            "sequential/block_1/norm/moving_variance", "sequential/block_1/conv2/kernel",
            "sequential/fc/kernel", "sequential/fc/bias"});
  CHECK(model.trainable_variables().size() == 12);
  CHECK(model.non_trainable_variables().size() == 4);
  CHECK(model.count_params() == 2 * (36 + 2 + 8 + 4) + 96 + 3);
  CHECK(model.losses().size() == 2);
}

TEST_CASE("a module moves with its parts", "[nn][module]") {
  Block first(2);
  first(ones({1, 2, 2, 2}));
  const Block moved = std::move(first);
  CHECK(names_of(moved.trainable_variables()) ==
        std::vector<std::string>{"block/conv1/kernel", "block/conv1/bias", "block/norm/gamma",
                                 "block/norm/beta", "block/conv2/kernel"});
}

TEST_CASE("a checkpoint finds every part and weight", "[nn][module]") {
  nn::Sequential model(Block(2), nn::Flatten());
  model(ones({1, 2, 2, 2}));
  const auto parts = model.children();
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].name == "block");
  const auto inner = parts[0].object->children();
  REQUIRE(inner.size() == 3);
  CHECK(inner[0].name == "conv1");
  const auto weights = inner[0].object->own_variables();
  REQUIRE(weights.size() == 2);
  CHECK(weights[0].name == "kernel");
}

TEST_CASE("weights are made once when two replicas call together", "[nn][module]") {
  Scale layer;
  std::vector<float> y[2];
  run_two_replicas([&](int replica) { y[replica] = layer(ones({1, 3})).to_vector(); });
  CHECK(layer.builds == 1);
  CHECK(y[0] == y[1]);
  CHECK(layer.variables().size() == 1);
}

TEST_CASE("a failed build can be tried again", "[nn][module]") {
  nn::BatchNormalization layer;
  CHECK_THROWS_AS(layer(ones({3})), InvalidArgumentError);
  CHECK_FALSE(layer.built());
  CHECK(layer(ones({1, 3})).shape() == Shape{1, 3});
  CHECK(layer.variables().size() == 4);
}

TEST_CASE("first values follow the program's seed", "[nn][module]") {
  random::set_seed(11);
  Scale a, b;
  const auto first = a(ones({1, 3})).to_vector();
  CHECK(first != b(ones({1, 3})).to_vector());
  random::set_seed(11);
  Scale again;
  CHECK(first == again(ones({1, 3})).to_vector());
}

TEST_CASE("a restorer hears of every weight and part that is made", "[nn][module]") {
  struct Saved : Trackable::Restorer {
    void created(const std::string& name, const Variable& weight, const Variable&) override {
      names.push_back(name);
      weight.assign(fill(weight.shape(), 2.0f));
    }
    std::shared_ptr<Restorer> part(const std::string& name) override {
      names.push_back(name);
      return nullptr;
    }
    std::vector<std::string> names;
  };
  const auto saved = std::make_shared<Saved>();
  Scale layer;
  layer.set_restorer(saved);
  CHECK(layer(ones({1, 2})).to_vector() == std::vector<float>{2, 2});
  nn::Sequential model;
  model.set_restorer(saved);
  model.add(nn::Flatten());
  CHECK(saved->names == std::vector<std::string>{"factor", "flatten"});
}

TEST_CASE("freezing a module freezes its parts", "[nn][module]") {
  nn::Sequential model(Block(2), nn::Flatten(), nn::Dense({.units = 1}));
  model(ones({1, 2, 2, 2}));
  model[0].set_trainable(false);
  CHECK(names_of(model.trainable_variables()) ==
        std::vector<std::string>{"sequential/dense/kernel", "sequential/dense/bias"});
}

TEST_CASE("gradients through a whole module are those of differences", "[nn][module]") {
  random::set_seed(1);
  nn::Sequential model(Block(2), nn::Flatten(), nn::Dense({.units = 2}));
  const Tensor x = golden_input({2, 3, 3, 2});
  const auto loss_of = [&] {
    const Tensor y = model(x, {.training = true});
    return reduce_sum(y * pattern(y.shape(), 1, 5, 2, 1.0f));
  };
  loss_of();
  GradientTape tape;
  const Tensor loss = loss_of();
  const auto weights = model.trainable_variables();
  const auto gradients = tape.gradient(loss, weights);
  for (size_t w = 0; w < weights.size(); ++w) {
    const std::vector<float> value = weights[w].value().to_vector();
    for (size_t i = 0; i < value.size(); i += 5) {
      const auto at = [&](float shift) {
        std::vector<float> shifted = value;
        shifted[i] += shift;
        weights[w].assign(Tensor(weights[w].shape(), shifted));
        return double(loss_of().item<float>());
      };
      const double difference = (at(0.01f) - at(-0.01f)) / 0.02;
      INFO(weights[w].name() << " element " << i);
      CHECK(gradients[w].to_vector()[i] == Approx(difference).epsilon(0.01).margin(0.005));
    }
    weights[w].assign(Tensor(weights[w].shape(), value));
  }
}
