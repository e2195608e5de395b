#include <distribute/base/error.hpp>
#include <distribute/optim/schedules.hpp>

#include "support/catch.hpp"

using namespace distribute;
using namespace distribute::optim;

namespace {
void check_rates(const LearningRate& rate, const std::map<int64_t, double>& wanted) {
  for (const auto& [step, value] : wanted) {
    INFO("step " << step);
    CHECK(rate(step) == Approx(value).epsilon(1e-6).margin(1e-9));
  }
}
}  // namespace

TEST_CASE("a constant rate is the same at every step", "[optim][schedules]") {
  check_rates(0.05f, {{0, 0.05}, {1000, 0.05}});
  CHECK_FALSE(LearningRate(1).is_schedule());
}

TEST_CASE("piecewise constant decay changes after its boundaries", "[optim][schedules]") {
  check_rates(PiecewiseConstantDecay{{10, 20}, {1.0, 0.5, 0.1}},
              {{0, 1.0}, {10, 1.0}, {11, 0.5}, {20, 0.5}, {21, 0.1}});
  CHECK_THROWS_AS((PiecewiseConstantDecay{{10, 20}, {1.0, 0.5}}(0)), InvalidArgumentError);
  CHECK_THROWS_AS((PiecewiseConstantDecay{{20, 10}, {1, 2, 3}}(0)), InvalidArgumentError);
}

TEST_CASE("exponential decay follows Keras, smooth and in stairs", "[optim][schedules]") {
  check_rates(ExponentialDecay{0.1, 100, 0.96},
              {{0, 0.1}, {50, 0.0979795903}, {100, 0.096}, {250, 0.0902979895}});
  check_rates(ExponentialDecay{0.1, 100, 0.96, true},
              {{0, 0.1}, {50, 0.1}, {100, 0.096}, {250, 0.09216}});
}

TEST_CASE("cosine decay follows Keras, with and without warm-up", "[optim][schedules]") {
  check_rates(CosineDecay{.initial_learning_rate = 0.1, .decay_steps = 100, .alpha = 0.1},
              {{0, 0.1}, {25, 0.0868198127}, {50, 0.055}, {100, 0.01}, {200, 0.01}});
  check_rates(CosineDecay{0.0, 100, 0.1, 0.2, 10},
              {{0, 0.0}, {5, 0.1}, {10, 0.2}, {35, 0.173639625}, {110, 0.02}, {300, 0.02}});
  CHECK_THROWS_AS((CosineDecay{0.1, 0}(0)), InvalidArgumentError);
}

TEST_CASE("cosine decay with restarts follows Keras", "[optim][schedules]") {
  // clang-format off
  check_rates(CosineDecayRestarts{0.1, 100},
              {{0, 0.1}, {10, 0.0975528285}, {50, 0.05}, {100, 0.1}, {150, 0.0853553414},
               {300, 0.1}, {500, 0.05}});
  check_rates(CosineDecayRestarts{0.1, 10, 1.0, 0.5, 0.1},
              {{0, 0.1}, {5, 0.055}, {10, 0.055}, {25, 0.02125}, {39, 0.0102753071},
               {50, 0.0128124999}, {299, 0.01}});
  check_rates(CosineDecayRestarts{.initial_learning_rate = 0.2, .first_decay_steps = 10,
                                  .t_mul = 3.0, .m_mul = 0.9, .alpha = 0.05},
              {{0, 0.2}, {10, 0.181}, {25, 0.0955}, {39, 0.0104683768}, {50, 0.159259334},
               {150, 0.146643206}, {300, 0.0518244915}, {500, 0.13002941}});
  // clang-format on
  CHECK_THROWS_AS((CosineDecayRestarts{0.1, 0}(0)), InvalidArgumentError);
}

TEST_CASE("polynomial decay follows Keras, once and in cycles", "[optim][schedules]") {
  check_rates(PolynomialDecay{0.1, 100, 0.01, 2.0},
              {{0, 0.1}, {50, 0.0325}, {100, 0.01}, {150, 0.01}});
  check_rates(PolynomialDecay{0.1, 100, 0.01, 1.0, true},
              {{0, 0.1}, {50, 0.055}, {100, 0.01}, {150, 0.0325}, {200, 0.01}, {201, 0.0397}});
}

TEST_CASE("inverse time decay follows Keras", "[optim][schedules]") {
  check_rates(InverseTimeDecay{0.1, 10, 0.5},
              {{0, 0.1}, {5, 0.08}, {10, 0.0666666701}, {25, 0.0444444455}});
}

TEST_CASE("linear warm-up hands over to a schedule that then starts", "[optim][schedules]") {
  check_rates(LinearWarmup{ExponentialDecay{0.1, 100, 0.96}, 10},
              {{0, 0.0}, {5, 0.05}, {10, 0.1}, {110, 0.096}});
  check_rates(LinearWarmup{0.4, 4, 0.2}, {{0, 0.2}, {2, 0.3}, {4, 0.4}, {100, 0.4}});
}

TEST_CASE("any function of the step is a schedule", "[optim][schedules]") {
  check_rates([](int64_t step) { return 1.0 / double(step + 1); }, {{0, 1.0}, {3, 0.25}});
}
