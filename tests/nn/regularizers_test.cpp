#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/regularizers.hpp>

#include "support/catch.hpp"

using namespace distribute;

TEST_CASE("penalties add l1 and l2 parts, without a factor 1/2", "[nn][regularizers]") {
  const Variable w(Tensor{1.0f, -2.0f, 3.0f});
  CHECK(nn::regularizers::l2(0.1f)(w).item<float>() == Approx(1.4));
  CHECK(nn::regularizers::l1(0.5f)(w).item<float>() == Approx(3.0));
  const nn::Regularizer both{.l1 = 0.5f, .l2 = 0.1f};
  GradientTape tape;
  const Tensor penalty = both(w.value());
  CHECK(penalty.item<float>() == Approx(4.4));
  const auto gradient = tape.gradient(penalty, w).to_vector();
  CHECK(gradient[0] == Approx(0.7));
  CHECK(gradient[1] == Approx(-0.9));
  CHECK_FALSE(nn::Regularizer{});
}

TEST_CASE("long weights are summed in pieces", "[nn][regularizers]") {
  CHECK(nn::regularizers::l2(1.0f)(fill({1 << 20}, 0.1f)).item<float>() ==
        Approx(10485.76).epsilon(5e-5));
}
