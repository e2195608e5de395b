#include <distribute/optim/adagrad.hpp>

#include "formulas_support.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("Adadelta follows Keras, with its own options and with others", "[optim][adadelta]") {
  optim::Adadelta optimizer({.learning_rate = 1.0f});
  check_formula(optimizer, {0.498125523f, -1.20101833f, 2.99729466f, 0.00990024861f},
                {0.999239624f, -1.99943912f});
  CHECK(optimizer.slot_variables().size() == 4);
  optim::Adadelta other({.learning_rate = 0.5f, .rho = 0.8, .epsilon = 1e-3});
  check_formula(other, {0.460326642f, -1.22469854f, 2.9347837f, 0.00994999986f},
                {0.982889414f, -1.98827577f});
}
