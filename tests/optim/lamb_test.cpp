#include <distribute/optim/lamb.hpp>

#include "formulas_support.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("Lamb follows Keras", "[optim][lamb]") {
  optim::Lamb optimizer({.learning_rate = 0.01f});
  check_formula(optimizer, {0.483464748f, -1.18624175f, 2.94476628f, -0.0275436398f},
                {0.95068264f, -1.95559025f});
  CHECK(optimizer.slot_variables().size() == 4);
}

TEST_CASE("Lamb with decay of some variables follows Keras", "[optim][lamb]") {
  optim::Lamb optimizer(
      {.learning_rate = 0.01f, .beta_1 = 0.8, .beta_2 = 0.9, .epsilon = 1e-3, .weight_decay = 0.1});
  optimizer.exclude_from_weight_decay({"bias"});
  check_formula(optimizer, {0.481852323f, -1.18736601f, 2.9299593f, 0.00722789625f},
                {0.949820399f, -1.9567436f});
}

TEST_CASE("Lamb takes the plain step for weights of zero", "[optim][lamb]") {
  const Variable w(Tensor{0.0f, 0.0f});
  optim::Lamb optimizer({.learning_rate = 0.1f});
  optimizer.apply_gradients({Tensor{1.0f, 2.0f}}, {w});
  check_values(w.value(), {-0.09999932f, -0.09999933f});
}
