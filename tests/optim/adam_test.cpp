#include <distribute/optim/adam.hpp>

#include "formulas_support.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("Adam follows Keras", "[optim][adam]") {
  optim::Adam optimizer({.learning_rate = 0.01f});
  check_formula(optimizer, {0.492284477f, -1.19016957f, 2.97691393f, -0.00278896093f},
                {0.980408192f, -1.9815135f});
  const auto slots = optimizer.slot_variables();
  REQUIRE(slots.size() == 4);
  CHECK(slots[0].slot_name == "m");
  CHECK(slots[1].slot_name == "v");
  CHECK(slots[3].variable.name() == "bias/v");
}

TEST_CASE("Adam adds epsilon outside the root", "[optim][adam]") {
  optim::Adam optimizer({.learning_rate = 0.01f, .beta_1 = 0.8, .beta_2 = 0.95, .epsilon = 0.1});
  check_formula(optimizer, {0.498612225f, -1.19888008f, 2.98533893f, 0.00999702793f},
                {0.983937979f, -1.98443806f});
}

TEST_CASE("amsgrad follows Keras", "[optim][adam]") {
  optim::Adam optimizer({.learning_rate = 0.01f, .amsgrad = true});
  check_formula(optimizer, {0.492284477f, -1.19016957f, 2.97691393f, -0.00278625777f},
                {0.98041153f, -1.9815135f});
}

TEST_CASE("AdamW decays weights before the step", "[optim][adam]") {
  optim::AdamW optimizer({.learning_rate = 0.01f});
  check_formula(optimizer, {0.492225051f, -1.19002652f, 2.97655511f, -0.00278987153f},
                {0.98028928f, -1.98127449f});
  CHECK(optimizer.name() == "AdamW");
}

TEST_CASE("Adam is the same for every length and position", "[optim][adam]") {
  std::vector<float> start(1000), slope(1000);
  for (size_t i = 0; i < start.size(); ++i) {
    start[i] = std::sin(float(i));
    slope[i] = std::cos(3.0f * float(i));
  }
  const int64_t count = GENERATE(1, 15, 255, 256, 257, 1000);
  const Shape shape{count};
  const Variable w(Tensor(shape, std::vector<float>(start.begin(), start.begin() + count)));
  const Tensor g(shape, std::vector<float>(slope.begin(), slope.begin() + count));
  optim::Adam optimizer({.learning_rate = 0.1f});
  optimizer.apply_gradients({g}, {w});
  for (int64_t i = 0; i < count; ++i) {
    const float sign = slope[size_t(i)] > 0 ? 1.0f : -1.0f;
    // The first step of Adam is the rate against the gradient's sign.
    CHECK(w.value().data<float>()[size_t(i)] ==
          Approx(start[size_t(i)] - 0.1f * sign).margin(1e-4));
  }
}
