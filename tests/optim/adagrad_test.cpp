#include <distribute/optim/adagrad.hpp>

#include "formulas_support.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("Adagrad follows Keras", "[optim][adagrad]") {
  optim::Adagrad optimizer({.learning_rate = 0.1f});
  check_formula(optimizer, {0.466533363f, -1.2444346f, 2.85719776f, 0.00996837672f},
                {0.93201679f, -1.9414866f});
}

TEST_CASE("Adagrad updates only the rows of a sparse gradient", "[optim][adagrad]") {
  const Tensor start({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Variable sparse(start), dense(start);
  optim::Adagrad a({.learning_rate = 0.1f}), b({.learning_rate = 0.1f});
  // Row 2 comes twice: its parts are added before they are squared.
  const Tensor rows = to_tensor({Tensor({3, 2}, std::vector<float>{1, -1, 0.5f, 0.25f, 2, 3}),
                                 Tensor{int64_t{2}, int64_t{0}, int64_t{2}}, Shape{3, 2}});
  const Tensor whole({3, 2}, std::vector<float>{0.5f, 0.25f, 0, 0, 3, 2});
  for (int step = 0; step < 2; ++step) {
    a.apply_gradients({rows}, {sparse});
    b.apply_gradients({whole}, {dense});
  }
  check_values(sparse.value(), dense.value().to_vector());
  CHECK(sparse.value().data<float>()[2] == 3.0f);
}

TEST_CASE("a negative accumulator is refused", "[optim][adagrad]") {
  CHECK_THROWS_AS(optim::Adagrad({.initial_accumulator_value = -1}), InvalidArgumentError);
}
