#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/watching_tape.hpp>

using namespace distribute;
using Values = std::vector<float>;

// The numbers were printed by TensorFlow 2.21.

namespace {

Tensor matrix(Values values) { return Tensor(Shape{2, 2}, values); }

}  // namespace

TEST_CASE("a Jacobian has a gradient for each element of the target", "[autograd][jacobian]") {
  const Tensor a{1.0f, 2.0f, 3.0f}, m = matrix({1, 2, 3, 4});
  WatchingTape tape({a});
  CHECK(tape.jacobian(a * a, a).to_vector() == Values{2, 0, 0, 0, 4, 0, 0, 0, 6});
  WatchingTape other({m});
  const Tensor jacobian = other.jacobian(matmul(m, m), m);
  CHECK(jacobian.shape() == Shape{2, 2, 2, 2});
  CHECK(jacobian.to_vector() == Values{2, 3, 2, 0, 2, 5, 0, 2, 3, 0, 5, 3, 0, 3, 2, 8});
}

TEST_CASE("a scalar's Jacobian is its gradient", "[autograd][jacobian]") {
  const Tensor m = matrix({1, 2, 3, 4}), unconnected{1.0f, 2.0f};
  WatchingTape tape({m, unconnected}, GradientTape::Options{.persistent = true});
  const Tensor y = matmul(m, m), z = reduce_sum(y);
  CHECK(tape.jacobian(z, m).to_vector() == Values{7, 11, 9, 13});
  const auto both = tape.jacobian(z, {m, unconnected});
  CHECK(both[0].shape() == Shape{2, 2});
  CHECK_FALSE(both[1]);
  const auto zero = UnconnectedGradients::Zero;
  CHECK(tape.jacobian(z, unconnected, zero).to_vector() == Values{0, 0});
  CHECK(tape.jacobian(y, unconnected, zero).shape() == Shape{2, 2, 2});
}

TEST_CASE("a tape that is not persistent gives one set of Jacobians", "[autograd][jacobian]") {
  const Tensor a{1.0f, 2.0f};
  WatchingTape tape({a});
  const Tensor y = a * a;
  tape.jacobian(y, a);
  CHECK_THROWS_WITH(tape.jacobian(y, a), Contains("one set of gradients (or jacobians)"));
  CHECK_THROWS_AS(tape.gradient(y, a), FailedPreconditionError);
}

TEST_CASE("Jacobians of variables, again and again", "[autograd][jacobian]") {
  const Variable x(Tensor{1.0f, 2.0f});
  GradientTape third;
  Tensor squares;
  {
    GradientTape second;
    Tensor jacobian;
    {
      GradientTape first;
      const Tensor v = x.value();
      jacobian = first.jacobian(v * v * v, x);
    }
    CHECK(jacobian.to_vector() == Values{3, 0, 0, 12});
    const Tensor hessian = second.jacobian(jacobian, x);
    CHECK(hessian.shape() == Shape{2, 2, 2});
    CHECK(hessian.to_vector() == Values{6, 0, 0, 0, 0, 0, 0, 12});
    squares = reduce_sum(hessian * hessian);
  }
  CHECK(third.gradient(squares, x).to_vector() == Values{72, 144});
}

TEST_CASE("an empty target has an empty Jacobian", "[autograd][jacobian]") {
  const Tensor nothing = zeros({0});
  WatchingTape tape({nothing});
  CHECK(tape.jacobian(nothing * 2.0f, nothing).shape() == Shape{0, 0});
}

TEST_CASE("a batch's Jacobian keeps the rows apart", "[autograd][jacobian]") {
  const Tensor b = matrix({1, 2, 3, 4}), weights(Shape{2, 3}, Values{1, 2, 0, 0, 1, 3});
  WatchingTape tape({b}, GradientTape::Options{.persistent = true});
  const Tensor y = matmul(b * b, weights);
  const Tensor jacobian = tape.batch_jacobian(y, b);
  CHECK(jacobian.shape() == Shape{2, 3, 2});
  // d y[b, j] / d x[b, i] = 2 x[b, i] weights[i, j]
  CHECK(jacobian.to_vector() == Values{2, 0, 4, 4, 0, 12, 6, 0, 12, 8, 0, 24});
  const Tensor sums = reduce_sum(b, {0}, true) * b;  // rows that depend on each other are summed
  CHECK(tape.batch_jacobian(sums, b).to_vector() == Values{8, 0, 0, 12, 8, 0, 0, 12});
  CHECK_FALSE(tape.batch_jacobian(y, matrix({0, 0, 0, 0})));
}

TEST_CASE("a batch's Jacobian needs rows on both sides", "[autograd][jacobian]") {
  const Tensor b = matrix({1, 2, 3, 4});
  WatchingTape tape({b}, GradientTape::Options{.persistent = true});
  CHECK_THROWS_WITH(tape.batch_jacobian(reduce_sum(b, {0}), b), Contains("rank at least 2"));
  CHECK_THROWS_WITH(tape.batch_jacobian(zeros({3, 1}), b), Contains("to match"));
}
