#include <distribute/optim/adagrad.hpp>

#include "formulas_support.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("RMSprop follows Keras", "[optim][rmsprop]") {
  optim::RMSprop optimizer({.learning_rate = 0.01f});
  check_formula(optimizer, {0.471523315f, -1.20663834f, 2.94505286f, 0.0068534161f},
                {0.979360282f, -1.98259616f});
  CHECK(optimizer.slot_variables().size() == 2);
}

TEST_CASE("RMSprop with momentum follows Keras", "[optim][rmsprop]") {
  optim::RMSprop optimizer({.learning_rate = 0.01f, .momentum = 0.9});
  check_formula(optimizer, {0.445143312f, -1.15981638f, 2.86280179f, 0.00402149092f},
                {0.925285339f, -1.93039227f});
}

TEST_CASE("centered RMSprop follows Keras", "[optim][rmsprop]") {
  optim::RMSprop optimizer({.learning_rate = 0.01f, .rho = 0.8, .momentum = 0.5, .centered = true});
  check_formula(optimizer, {0.470717132f, -1.18878758f, 2.92423081f, 0.00529408082f},
                {0.964960039f, -1.96829247f});
  CHECK(optimizer.slot_variables().size() == 6);
}
