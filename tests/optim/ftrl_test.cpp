#include <distribute/base/error.hpp>
#include <distribute/optim/lamb.hpp>

#include "formulas_support.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("Ftrl follows Keras, with its own options and with others", "[optim][ftrl]") {
  optim::Ftrl optimizer({.learning_rate = 0.05f});
  check_formula(optimizer, {0.00653540436f, -0.208032191f, 0.752170026f, -1.58113871e-05f},
                {0.861179888f, -1.81312108f});
  CHECK(optimizer.slot_variables().size() == 4);
  optim::Ftrl other({.learning_rate = 0.1f,
                     .learning_rate_power = -0.7,
                     .initial_accumulator_value = 0.2,
                     .l1_regularization_strength = 0.05,
                     .l2_regularization_strength = 0.02,
                     .l2_shrinkage_regularization_strength = 0.01,
                     .beta = 0.3});
  check_formula(other, {-0.0131001826f, -0.10488566f, 0.292401016f, 0.0f},
                {0.832093954f, -1.79397845f});
}

TEST_CASE("Ftrl refuses negative strengths and a positive power", "[optim][ftrl]") {
  CHECK_THROWS_AS(optim::Ftrl({.learning_rate_power = 0.5}), InvalidArgumentError);
  CHECK_THROWS_AS(optim::Ftrl({.initial_accumulator_value = -1}), InvalidArgumentError);
  CHECK_THROWS_AS(optim::Ftrl({.l1_regularization_strength = -1}), InvalidArgumentError);
  CHECK_THROWS_AS(optim::Ftrl({.l2_regularization_strength = -1}), InvalidArgumentError);
  CHECK_THROWS_AS(optim::Ftrl({.l2_shrinkage_regularization_strength = -1}), InvalidArgumentError);
}
