#include <distribute/ops/math.hpp>
#include <distribute/optim/sgd.hpp>

#include "formulas_support.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("plain gradient descent follows Keras", "[optim][sgd]") {
  optim::SGD optimizer({.learning_rate = 0.1f});
  check_formula(optimizer, {0.460000038f, -1.24500012f, 2.81999993f, 0.00999000017f},
                {0.800000012f, -1.77499998f});
  CHECK(optimizer.slot_variables().empty());
}

TEST_CASE("momentum follows Keras", "[optim][sgd]") {
  optim::SGD optimizer({.learning_rate = 0.1f, .momentum = 0.9f});
  check_formula(optimizer, {0.478900015f, -1.21530008f, 2.58870006f, 0.00998099986f},
                {0.286999971f, -1.11350012f});
  const auto slots = optimizer.slot_variables();
  REQUIRE(slots.size() == 2);
  CHECK(slots[0].slot_name == "momentum");
  CHECK(slots[0].variable.name() == "w/momentum");
  CHECK_FALSE(slots[0].variable.trainable());
}

TEST_CASE("Nesterov's momentum follows Keras", "[optim][sgd]") {
  optim::SGD optimizer({.learning_rate = 0.1f, .momentum = 0.9f, .nesterov = true});
  check_formula(optimizer, {0.441009998f, -1.25876999f, 2.44983006f, 0.00997290015f},
                {0.158299953f, -0.977150083f});
}

TEST_CASE("weight decay spares excluded variables", "[optim][sgd]") {
  optim::SGD all({.learning_rate = 0.1f, .momentum = 0.9f, .weight_decay = 0.05});
  check_formula(all, {0.471382201f, -1.19765437f, 2.5453589f, 0.00983179826f},
                {0.276417345f, -1.08931482f});
  optim::SGD by_name({.learning_rate = 0.1f, .momentum = 0.9f, .weight_decay = 0.05});
  by_name.exclude_from_weight_decay({"bias", "gamma"});
  check_formula(by_name, {0.471382201f, -1.19765437f, 2.5453589f, 0.00983179826f},
                {0.286999971f, -1.11350012f});
  optim::SGD by_rank({.learning_rate = 0.1f, .momentum = 0.9f, .weight_decay = 0.05});
  by_rank.exclude_from_weight_decay([](const Variable& v) { return v.shape()[0] == 2; });
  check_formula(by_rank, {0.471382201f, -1.19765437f, 2.5453589f, 0.00983179826f},
                {0.286999971f, -1.11350012f});
}

TEST_CASE("a momentum outside [0, 1] is refused", "[optim][sgd]") {
  CHECK_THROWS_AS(optim::SGD({.momentum = 1.5}), InvalidArgumentError);
}

TEST_CASE("coupled weight decay is a part of the gradient", "[optim][sgd]") {
  const ThreeSteps decayed, wanted;
  optim::SGD coupled({.learning_rate = 0.1f, .momentum = 0.9f, .coupled_weight_decay = 0.05});
  coupled.exclude_from_weight_decay({"bias"});
  decayed.run(coupled);
  optim::SGD plain({.learning_rate = 0.1f, .momentum = 0.9f});
  for (int step = 0; step < 3; ++step) {
    auto gradients = ThreeSteps::gradients(step);
    gradients[0] = gradients[0] + wanted.w.value() * 0.05f;
    plain.apply_gradients(gradients, wanted.variables());
  }
  check_values(decayed.w.value(), wanted.w.value().to_vector());
  check_values(decayed.bias.value(), wanted.bias.value().to_vector());
}
