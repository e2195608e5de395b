// Against Keras: answers.json.
#include <distribute/preprocessing/normalization.hpp>

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/ops/reduce.hpp>

#include <tests/preprocessing/keras_answers.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::preprocessing;

namespace {

Tensor points() {
  return Tensor(Shape{2, 2, 3}, std::vector<float>{1, 2, 3, 4, 5, 7, 2, 0, 1, 9, 8, -3});
}

Tensor normalized(NormalizationOptions options) {
  Normalization layer(options);
  if (!options.mean) layer.adapt(points());
  return layer(points());
}

}  // namespace

TEST_CASE("Normalization scales as Keras", "[preprocessing][normalization]") {
  constexpr double kTolerance = 2e-6;
  check_answer("normalized last", normalized({}), kTolerance);
  check_answer("normalized all", normalized({.axis = {}}), kTolerance);
  check_answer("normalized two", normalized({.axis = {1, 2}}), kTolerance);
  check_answer("normalized inverted", normalized({.invert = true}), kTolerance);
  check_answer("normalized given",
               normalized({.mean = {1.0f, 2.0f, 3.0f}, .variance = {4.0f, 1.0f, 0.0f}}),
               kTolerance);
  check_answer("normalized scalar", normalized({.mean = 3.0f, .variance = 2.0f}), kTolerance);
  check_answer("rescaled", Rescaling(1 / 127.5f, -1)(points()), kTolerance);
  check_answer("rescaled channels",
               Rescaling({.scale = {1.0f, 2.0f, 0.5f}, .offset = {0.0f, 1.0f, 2.0f}})(points()),
               kTolerance);
}

TEST_CASE("a dataset's batches are summed up", "[preprocessing][normalization]") {
  const Tensor rows(Shape{4, 3}, std::vector<float>{1, 2, 3, 2, 0, 1, 4, 5, 7, 9, 8, -3});
  const auto dataset = data::Dataset::from_tensor_slices(rows);
  Normalization layer;
  layer.adapt(dataset.batch(3));
  check_answer("normalized dataset", layer(points().rows(0, 1).view({2, 3})), 2e-6);
  Normalization again;
  again.adapt(dataset);  // examples are batched by themselves
  check_answer("normalized dataset", again(points().rows(0, 1).view({2, 3})), 2e-6);
}

TEST_CASE("Normalization is a layer with weights that are not trained",
          "[preprocessing][normalization]") {
  auto layer = Normalization();
  layer.adapt(points());
  CHECK(layer.trainable_variables().empty());
  REQUIRE(layer.variables().size() == 3);
  CHECK(layer.variables()[0].name() == "normalization/mean");
  nn::Sequential model(std::move(layer), nn::Dense({.units = 2}));
  GradientTape tape;
  const Tensor x = points();
  tape.watch(x);
  const Tensor loss = reduce_sum(model(x));
  CHECK(tape.gradient(loss, x).shape() == x.shape());
  const Tensor integers(Shape{1, 3}, std::vector<int32_t>{1, 2, 3});
  CHECK(model(integers).dtype() == DType::Float32);
}

TEST_CASE("Normalization says what does not fit", "[preprocessing][normalization]") {
  CHECK_THROWS_AS(Normalization({.mean = 1.0f}), InvalidArgumentError);
  CHECK_THROWS_AS(Normalization({.axis = {}, .mean = {1.0f}, .variance = {1.0f}}),
                  InvalidArgumentError);
  CHECK_THROWS_AS(normalized({.axis = {3}}), InvalidArgumentError);
  Normalization given({.mean = 0.0f, .variance = 1.0f});
  CHECK_THROWS_AS(given.adapt(points()), FailedPreconditionError);
  Normalization layer;
  layer.adapt(points());
  CHECK_THROWS_SAYING(layer.adapt(ones({2, 4})), InvalidArgumentError, "with means [3]");
  CHECK_THROWS_AS(layer.adapt(data::Dataset::from_tensor_slices(ones({2, 3})).repeat()),
                  InvalidArgumentError);
  CHECK_THROWS_AS(Rescaling({.scale = ones({1, 2})}), InvalidArgumentError);
}
