// Numbers are Keras's: fit_expected.py prints them.
#include <distribute/nn/loss.hpp>
#include <distribute/nn/merging.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/regression_losses.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/train/model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/small_fit.hpp>

using namespace distribute;
using train::Model;
using train::Verbose;

namespace {

nn::Functional two_heads() {
  nn::Functional net;
  const auto hidden = net.apply(nn::Dense({.units = 8, .activation = nn::tanh, .name = "hidden"}),
                                net.input("features", {5}));
  net.output("kind", net.apply(nn::Dense({.units = 3, .name = "kind_logits"}), hidden));
  net.output("size", net.apply(nn::Dense({.units = 1, .name = "size_value"}), hidden));
  float phase = 0;
  for (const Variable& variable : net.variables()) {
    std::vector<float> values(size_t(variable.shape().num_elements()));
    for (float& value : values) value = 0.7f * std::sin(phase += 1.7f);
    train::restore_value(variable, Tensor(variable.shape(), values));
  }
  return net;
}

/// The second target is twice the first feature; the weights are 1, 2, 3, 1, ...
data::Batch all_rows() {
  data::Batch all = *small_data(22).batch(22).iterator().get_next_as_optional();
  std::vector<float> sizes(22), weights(22);
  for (size_t i = 0; i < 22; ++i) {
    sizes[i] = 2 * all.x.data<float>()[i * 5];
    weights[i] = float(1 + i % 3);
  }
  all.more = {Tensor(Shape{22, 1}, sizes), Tensor(Shape{22}, weights)};
  return all;
}

data::Dataset named_data(bool weighted = false) {
  const data::Batch all = all_rows();
  data::TensorMap map{{"features", all.x}, {"kind", all.y}, {"size", all.more[0]}};
  if (weighted) map["kind_weight"] = all.more[1];
  return data::Dataset::from_tensor_slices(map).take(16).batch(8);
}

train::CompileOptions both(optim::Optimizer& optimizer) {
  return {.optimizer = optimizer,
          .losses = {{"kind", nn::SparseCategoricalCrossentropy({.from_logits = true})},
                     {"size", "mse"}},
          .output_metrics = {{"kind", {"accuracy"}}, {"size", {"mae"}}}};
}

void check_history(const train::History& history, const std::string& name,
                   const std::vector<double>& wanted) {
  INFO(name);
  const std::vector<double>& got = history.history.at(name);
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    CHECK(got[i] == Approx(wanted[i]).epsilon(3e-5).margin(1e-6));
}

void check_equal(const Tensor& got, const Tensor& wanted) {
  const std::vector<float> values = wanted.to_vector();
  check_close(got, std::vector<double>(values.begin(), values.end()), 1e-5);
}

struct Trainer {
  nn::Functional net = two_heads();
  optim::SGD optimizer{{.learning_rate = 0.3, .momentum = 0.9}};
  Model model{net};
};

}  // namespace

TEST_CASE("every output has its loss and metrics, by name", "[train][fit_outputs]") {
  const int replicas = GENERATE(1, 2);
  MirroredStrategy strategy({.num_replicas = replicas});
  const auto scope = strategy.scope();
  Trainer trainer;
  trainer.model.compile(both(trainer.optimizer));
  const auto history = trainer.model.fit(named_data(), {.epochs = 3, .verbose = Verbose::Silent});
  check_history(history, "loss", {3.320033, 2.37838, 1.760328});
  check_history(history, "kind_loss", {0.7261625, 0.4123442, 0.2985963});
  check_history(history, "size_loss", {2.59387, 1.966036, 1.461732});
  check_history(history, "kind_accuracy", {0.5625, 0.875, 0.875});
  check_history(history, "size_mae", {1.102773, 1.240481, 0.7982069});
}

TEST_CASE("loss_weights weigh the outputs' losses in their sum", "[train][fit_outputs]") {
  Trainer trainer;
  auto options = both(trainer.optimizer);
  options.loss_weights = {{"size", 0.25}};
  trainer.model.compile(options);
  const auto history = trainer.model.fit(
      named_data(), {.epochs = 3, .validation_data = named_data(), .verbose = Verbose::Silent});
  check_history(history, "loss", {1.889241, 0.3932101, 0.6459641});
  check_history(history, "kind_loss", {0.7189447, 0.2464944, 0.149514});
  check_history(history, "size_loss", {4.681184, 0.5868627, 1.9858});
  CHECK(history.history.contains("val_size_mae"));
}

TEST_CASE("an output's sample weights count in its loss", "[train][fit_outputs]") {
  Trainer trainer;
  trainer.model.compile(both(trainer.optimizer));
  const auto history =
      trainer.model.fit(named_data(true), {.epochs = 3, .verbose = Verbose::Silent});
  check_history(history, "loss", {3.78299, 2.322806, 2.522186});
  check_history(history, "kind_loss", {1.19999, 0.4963032, 0.2031687});
  check_history(history, "kind_accuracy", {0.6875, 0.875, 1.0});
}

TEST_CASE("components without names are inputs, targets and weights in turn",
          "[train][fit_outputs]") {
  const data::Batch all = all_rows();
  Trainer trainer;
  trainer.model.compile(both(trainer.optimizer));
  const auto data =
      data::Dataset::from_tensor_slices(all.x, all.y, {all.more[0]}).take(16).batch(8);
  const auto history = trainer.model.fit(data, {.epochs = 1, .verbose = Verbose::Silent});
  check_history(history, "loss", {3.320033});
  const auto outputs = trainer.model.predict_outputs(data);
  CHECK(outputs.at("kind").shape() == Shape{16, 3});
  check_equal(outputs.at("size"), trainer.net({{"features", all.x.rows(0, 16)}}).at("size"));
}

TEST_CASE("a graph shares layers, merges and checks shapes where they are made",
          "[nn][functional]") {
  nn::Functional net;
  const auto left = net.input("left", {3}), right = net.input("right", {3});
  auto& shared = net.add(nn::Dense({.units = 4, .name = "shared"}));
  const auto a = net.apply(shared, left), b = net.apply(shared, right);
  net.output("sum", net.apply(nn::Add(), {a, b}));
  CHECK(net.variables().size() == 2);
  CHECK(net.variables()[0].name() == "shared/kernel");
  const Tensor x(Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}), y = x * 2;
  check_equal(net({{"left", x}, {"right", y}}).at("sum"), shared(x) + shared(y));
  CHECK_THROWS_SAYING(net.apply(shared, net.input("wide", {7})), InvalidArgumentError, "7");
  CHECK_THROWS_SAYING(net.input("left", {3}), InvalidArgumentError, "'left'");
  CHECK_THROWS_SAYING(net({{"left", x}}), InvalidArgumentError, "takes 'left', 'right'");
  nn::Dense foreign({.units = 2});
  CHECK_THROWS_SAYING(net.apply(foreign, a), InvalidArgumentError, "not part of this model");
}

TEST_CASE("options for outputs are used or refused", "[train][fit_outputs]") {
  Trainer trainer;
  Model& model = trainer.model;
  const auto refused = [&](const char* message, const auto& change) {
    auto options = both(trainer.optimizer);
    change(options);
    CHECK_THROWS_SAYING(model.compile(options), InvalidArgumentError, message);
  };
  using Options = train::CompileOptions;
  refused("losses names 'sise'; the outputs of the model are 'kind'",
          [](Options& options) { options.losses["sise"] = "mse"; });
  refused("output_metrics", [](Options& options) { options.metrics = {"mae"}; });
  refused("either loss", [](Options& options) { options.loss = "mse"; });
  model.compile(both(trainer.optimizer));
  CHECK_THROWS_SAYING(
      model.fit(named_data(), {.class_weight = {{0, 2.0f}}, .verbose = Verbose::Silent}),
      InvalidArgumentError, "class_weight");
  CHECK_THROWS_SAYING(model.fit(small_data(4).batch(2), {.verbose = Verbose::Silent}),
                      InvalidArgumentError, "2 components");
  auto plain = small_net();
  Model single(plain);
  CHECK_THROWS_SAYING(single.compile(both(trainer.optimizer)), InvalidArgumentError,
                      "take loss and metrics");
}

TEST_CASE("a model of one input and one output takes components by their names", "[train][fit]") {
  // The component of the output comes first in the order of names, and either would fit.
  const Tensor tokens(Shape{2, 2}, std::vector<float>{1, 2, 3, 4});
  const Tensor logits(Shape{2, 2}, std::vector<float>{0, 1, 1, 0});
  const Tensor weights(Shape{2}, std::vector<float>{1, 3});
  const auto weights_after = [&](const data::Dataset& data) {
    nn::Functional net;
    net.output("logits",
               net.apply(nn::Dense({.units = 2, .kernel_initializer = nn::initializers::ones()}),
                         net.input("tokens", {2})));
    optim::SGD sgd({.learning_rate = 0.125});
    Model model(net);
    model.compile({.optimizer = sgd, .loss = "mse"});
    model.fit(data, {.verbose = Verbose::Silent});
    CHECK(model.evaluate(data).size() == 1);
    return net.variables()[0].value().to_vector();
  };
  using data::Dataset;
  const auto by_name =
      Dataset::from_tensor_slices(
          data::TensorMap{{"tokens", tokens}, {"logits", logits}, {"sample_weight", weights}})
          .batch(2);
  const auto by_position = Dataset::from_tensor_slices(tokens, logits, {weights}).batch(2);
  CHECK(weights_after(by_name) == weights_after(by_position));
  const auto other =
      Dataset::from_tensor_slices(data::TensorMap{{"words", tokens}, {"logits", logits}}).batch(2);
  CHECK_THROWS_SAYING(weights_after(other), InvalidArgumentError,
                      "the data has a component 'words'");
}

namespace {

/// The values that the program of Keras with these numbers has: sin(0.37 i (1 + k / 100) + 0.9 k +
/// i^2 / 1000).
Tensor waves(const Shape& shape, int k) {
  std::vector<float> values(size_t(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] =
        float(std::sin(0.37 * double(i) * (1 + 0.01 * k) + 0.9 * k + 0.001 * double(i * i)));
  return Tensor(shape, values);
}

data::TensorMap two_inputs() {
  return {{"a", waves({11, 2}, 1)},
          {"b", waves({11, 3}, 2)},
          {"y", Tensor(Shape{11, 1}, std::vector<float>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})}};
}

nn::Functional one_output() {
  nn::Functional net;
  const auto a = net.input("a", {2}), b = net.input("b", {3});
  net.output("y", net.apply(nn::Dense({.units = 1,
                                       .activation = nn::sigmoid,
                                       .kernel_initializer = nn::initializers::constant(0.25)}),
                            net.apply(nn::Concatenate(), {a, b})));
  return net;
}

}  // namespace

TEST_CASE("several inputs and one output take metrics and class weights as any model",
          "[train][fit_outputs]") {
  const auto data = data::Dataset::from_tensor_slices(two_inputs()).batch(4);
  const auto trained = [&](const std::map<int64_t, float>& class_weight) {
    nn::Functional net = one_output();
    optim::SGD optimizer({.learning_rate = 0.5});
    Model model(net);
    model.compile({.optimizer = optimizer,
                   .loss = "binary_crossentropy",
                   .metrics = {"accuracy"},
                   .weighted_metrics = {"mae"}});
    return model.fit(data, {.epochs = 3, .class_weight = class_weight, .verbose = Verbose::Silent});
  };
  const auto plain = trained({});
  CHECK(plain.history.size() == 3);  // neither y_loss nor y_accuracy
  check_history(plain, "loss", {0.6241947, 0.4827983, 0.4095008});
  check_history(plain, "accuracy", {0.6363636, 0.8181818, 0.9090909});
  check_history(plain, "mae", {0.4474401, 0.370746, 0.3232579});
  const auto weighted = trained({{0, 0.5f}, {1, 3.0f}});
  check_history(weighted, "loss", {0.4616204, 0.3967054, 0.3618591});
  check_history(weighted, "accuracy", {0.6363636, 0.6363636, 0.6363636});
  check_history(weighted, "mae", {0.361496, 0.3052016, 0.2757704});
}

TEST_CASE("the one loss of two outputs is the loss", "[train][fit_outputs]") {
  Trainer trainer;
  auto options = both(trainer.optimizer);
  options.losses.erase("kind");
  trainer.model.compile(options);
  const auto history = trainer.model.fit(named_data(), {.epochs = 1, .verbose = Verbose::Silent});
  CHECK(history.history.size() == 3);  // loss, kind_accuracy, size_mae
  CHECK_FALSE(history.history.contains("size_loss"));
}

TEST_CASE("class weights of fit do not count in train_on_batch", "[train][fit_outputs]") {
  auto net = small_net();
  optim::SGD optimizer({.learning_rate = 0});
  Model model(net);
  model.compile(
      {.optimizer = optimizer, .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
  const auto data = small_data(8).batch(8);
  const auto first = [&] { return *model.distribute(data).begin(); };
  model.fit(data, {.verbose = Verbose::Silent});
  const double loss = model.train_on_batch(first()).at("loss");
  model.fit(data, {.class_weight = {{0, 5.0f}, {1, 7.0f}}, .verbose = Verbose::Silent});
  CHECK(model.train_on_batch(first()).at("loss") == loss);
}
