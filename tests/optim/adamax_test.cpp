#include <distribute/optim/adam.hpp>

#include "formulas_support.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("Adamax follows Keras, with its own options and with others", "[optim][adamax]") {
  optim::Adamax optimizer({.learning_rate = 0.01f});
  check_formula(optimizer, {0.491859674f, -1.18954599f, 2.98117661f, 0.00142106973f},
                {0.983495951f, -1.98418736f});
  CHECK(optimizer.slot_variables().size() == 4);
  optim::Adamax other({.learning_rate = 0.02f, .beta_1 = 0.8, .beta_2 = 0.9, .epsilon = 1e-3});
  check_formula(other, {0.483873099f, -1.18032992f, 2.96174812f, 0.00838830415f},
                {0.967031717f, -1.96872759f});
}
