#include <distribute/optim/adam.hpp>

#include "formulas_support.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("Nadam follows Keras, with its own options and with others", "[optim][nadam]") {
  optim::Nadam optimizer({.learning_rate = 0.01f});
  check_formula(optimizer, {0.490228057f, -1.20108283f, 2.98079252f, -0.00105856685f},
                {0.991300464f, -1.99236703f});
  CHECK(optimizer.slot_variables().size() == 4);
  optim::Nadam other({.learning_rate = 0.01f, .beta_1 = 0.8, .beta_2 = 0.95, .epsilon = 1e-3});
  check_formula(other, {0.489787281f, -1.20160174f, 2.97939086f, 0.009190524f},
                {0.990714729f, -1.99193454f});
}
