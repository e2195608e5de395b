#include <distribute/ops/math.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/central_storage_strategy.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;
using Values = std::vector<float>;

// The numbers were printed by TensorFlow 2.21 with Keras's SGD.

namespace {

Variable between_zero_and_one(Values first) {
  const Shape shape{int64_t(first.size())};
  return Variable(Tensor(shape, first), {.name = "w", .constraint = [](const Tensor& value) {
                                           return minimum(maximum(value, zeros_like(value)),
                                                          ones_like(value));
                                         }});
}

}  // namespace

TEST_CASE("an optimizer leaves what the constraint gives", "[optim][constraints]") {
  const Variable w = between_zero_and_one({1, 2});
  optim::SGD sgd({.learning_rate = 1.0});
  sgd.apply_gradients({Tensor{0.5f, 0.5f}}, {w});
  CHECK(w.value().to_vector() == Values{0.5f, 1});
  w.assign(Tensor{5.0f, 5.0f});  // which asks no constraint
  CHECK(w.value().to_vector() == Values{5, 5});
  CHECK(bool(w.constraint()));
  CHECK_FALSE(bool(Variable(Tensor(1.0f)).constraint()));
}

TEST_CASE("every copy of a mirrored variable is constrained", "[optim][constraints]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  const Variable w = between_zero_and_one({1, 2});
  optim::SGD sgd({.learning_rate = 1.0});
  strategy.run([&] { sgd.apply_gradients({Tensor{0.25f, 0.25f}}, {w}); });
  for (const Tensor& copy : strategy.experimental_local_results(w))
    CHECK(copy.to_vector() == Values{0.5f, 1});
}

TEST_CASE("a central variable is constrained", "[optim][constraints]") {
  CentralStorageStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  const Variable w = between_zero_and_one({1, 2});
  optim::SGD sgd({.learning_rate = 1.0});
  strategy.run([&] { sgd.apply_gradients({Tensor{0.25f, 0.25f}}, {w}); });
  CHECK(w.value().to_vector() == Values{0.5f, 1});
}

TEST_CASE("a constraint that gives another shape names the variable", "[optim][constraints]") {
  const Variable w(Tensor{1.0f, 2.0f},
                   {.name = "w", .constraint = [](const Tensor&) { return Tensor(1.0f); }});
  optim::SGD sgd({.learning_rate = 1.0});
  CHECK_THROWS_WITH(sgd.apply_gradients({Tensor{1.0f, 1.0f}}, {w}), Contains("'w'"));
}
