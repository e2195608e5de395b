#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/loss.hpp>

#include "support/catch.hpp"
#include "two_replicas.hpp"

using namespace distribute;
using namespace distribute_test;

namespace {
const Tensor kProbabilities({3, 3},
                            std::vector<float>{.7f, .2f, .1f, .05f, .05f, .9f, .3f, .3f, .4f});
const Tensor kLogits({3, 3}, std::vector<float>{2, -1, 0.5f, 0.1f, 0.2f, -3, 0, 4, 1});
const Tensor kClasses{int64_t{0}, int64_t{2}, int64_t{1}};
const Tensor kOneHot({3, 3}, std::vector<float>{1, 0, 0, 0, 0, 1, 0, 1, 0});

void check_losses(const Tensor& got, const std::vector<double>& wanted) {
  REQUIRE(got.shape() == Shape{int64_t(wanted.size())});
  for (size_t i = 0; i < wanted.size(); ++i)
    CHECK(got.to_vector()[i] == Approx(wanted[i]).epsilon(2e-6));
}
}  // namespace

TEST_CASE("sparse crossentropy follows Keras", "[nn][losses]") {
  check_losses(nn::sparse_categorical_crossentropy(kClasses, kProbabilities),
               {0.356674969, 0.10536056, 1.20397282});
  check_losses(nn::sparse_categorical_crossentropy(kClasses, kLogits, {.from_logits = true}),
               {0.241311327, 3.86557031, 0.0658839121});
  const Tensor column({3, 1}, std::vector<float>{0, 2, 1});
  check_losses(nn::sparse_categorical_crossentropy(column, kLogits, {.from_logits = true}),
               {0.241311327, 3.86557031, 0.0658839121});
}

TEST_CASE("crossentropy of probabilities follows Keras", "[nn][losses]") {
  check_losses(nn::categorical_crossentropy(kOneHot, kProbabilities),
               {0.356674969, 0.105360538, 1.20397282});
  check_losses(nn::categorical_crossentropy(kOneHot, kLogits, {.from_logits = true}),
               {0.241311327, 3.86557031, 0.0658839121});
  check_losses(nn::categorical_crossentropy(kOneHot, kProbabilities, {.label_smoothing = 0.1f}),
               {0.463297427, 0.298052013, 1.19438338});
  check_losses(nn::categorical_crossentropy(kOneHot, kLogits,
                                            {.from_logits = true, .label_smoothing = 0.1f}),
               {0.391311347, 3.65557027, 0.299217254});
}

TEST_CASE("binary crossentropy follows Keras", "[nn][losses]") {
  check_losses(nn::binary_crossentropy(kOneHot, kProbabilities),
               {0.228393003, 0.0693157166, 0.69049114});
  check_losses(nn::binary_crossentropy(kOneHot, kLogits, {.from_logits = true}),
               {0.471422225, 1.53037417, 0.674852908});
  check_losses(nn::binary_crossentropy(kOneHot, kProbabilities, {.label_smoothing = 0.2f}),
               {0.37608692, 0.338852435, 0.704006672});
}

TEST_CASE("squared and absolute errors follow Keras", "[nn][losses]") {
  check_losses(nn::mean_squared_error(kOneHot, kProbabilities),
               {0.0466666706, 0.00500000129, 0.24666667});
  check_losses(nn::mean_absolute_error(kOneHot, kProbabilities),
               {0.200000003, 0.0666666701, 0.466666669});
}

TEST_CASE("the average loss divides by the global batch", "[nn][losses]") {
  const Variable losses(Tensor{1.0f, 2.0f, 3.0f});
  CHECK(nn::compute_average_loss(losses).item<float>() == 2.0f);
  CHECK(nn::compute_average_loss(losses, 6).item<float>() == 1.0f);
  CHECK(nn::compute_average_loss(losses, 6, Tensor{1.0f, 0.0f, 1.0f}).item<float>() ==
        Approx(4.0 / 6));
  GradientTape tape;
  const Tensor average = nn::compute_average_loss(losses.value(), 6);
  CHECK(tape.gradient(average, losses).to_vector()[1] == Approx(1.0 / 6));
  CHECK_THROWS_AS(nn::compute_average_loss(losses, 0), InvalidArgumentError);
  CHECK(nn::compute_average_loss(zeros({0})).item<float>() == 0.0f);
}

TEST_CASE("replicas share the average and the regularization", "[nn][losses]") {
  run_two_replicas([&](int) {
    CHECK(nn::compute_average_loss(Tensor{1.0f, 2.0f}).item<float>() == 0.75f);
    CHECK(nn::scale_regularization_loss(Tensor{1.0f, 2.0f}).item<float>() == 1.5f);
    CHECK(nn::scale_regularization_loss({Tensor(1.0f), Tensor(3.0f)}).item<float>() == 2.0f);
  });
}

TEST_CASE("averages are refused in cross-replica context", "[nn][losses]") {
  get_replica_context()->merge(
      [](std::span<void* const>) {
        CHECK_THROWS_AS(nn::compute_average_loss(Tensor{1.0f}), FailedPreconditionError);
        CHECK_THROWS_AS(nn::scale_regularization_loss(Tensor{1.0f}), FailedPreconditionError);
      },
      nullptr);
}
