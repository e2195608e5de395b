#include <distribute/base/error.hpp>
#include <distribute/optim/lamb.hpp>

#include "formulas_support.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("Lion follows Keras, with its own options and with others", "[optim][lion]") {
  optim::Lion optimizer({.learning_rate = 0.01f});
  check_formula(optimizer, {0.49000001f, -1.21000004f, 2.99000001f, -0.00999999978f},
                {0.99000001f, -1.99000001f});
  CHECK(optimizer.slot_variables().size() == 2);
  optim::Lion other({.learning_rate = 0.01f, .beta_1 = 0.5, .beta_2 = 0.6, .weight_decay = 0.1});
  check_formula(other, {0.488511503f, -1.18643367f, 2.96103907f, -0.0100199701f},
                {0.98703301f, -1.98403597f});
}

TEST_CASE("Lion wants a beta_1 above 0 and up to 1", "[optim][lion]") {
  CHECK_THROWS_AS(optim::Lion({.beta_1 = 0.0}), InvalidArgumentError);
  CHECK_THROWS_AS(optim::Lion({.beta_1 = 1.5}), InvalidArgumentError);
}
