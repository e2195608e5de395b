#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/reduce.hpp>

#include <tests/support/check_close.hpp>
#include <tests/support/watching_tape.hpp>
#include "golden_support.hpp"
#include "two_replicas.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("batch normalization in training gives Keras's values and moves the averages",
          "[nn][normalization]") {
  nn::BatchNormalization layer({.momentum = 0.9});
  check_golden(layer, {2, 5, 5, 2},
               {{2, 5, 5, 2}, 3.4488461, -37.5, 42.8803024, {175.816238, 36.0124626, 0}}, true);
  const auto mean = layer.moving_mean().value().to_vector();
  const auto variance = layer.moving_variance().value().to_vector();
  CHECK(mean[0] == Approx(-0.564));
  CHECK(mean[1] == Approx(-0.001).margin(1e-7));
  CHECK(variance[0] == Approx(1.03810239));
  CHECK(variance[1] == Approx(0.587490022));
}

TEST_CASE("batch normalization in inference uses the moving values", "[nn][normalization]") {
  nn::BatchNormalization layer;
  check_golden(layer, {2, 5, 5, 2},
               {{2, 5, 5, 2}, 1.60899389, -55.3063278, 54.8716621, {44.6754112, 8.39225578, 0}});
  CHECK(layer.moving_mean().value().to_vector() == std::vector<float>{-0.625f, 0.0f});
}

TEST_CASE("moving values are read on each replica and averaged", "[nn][normalization]") {
  nn::BatchNormalization layer({.name = "bn1"});
  layer.ensure_built({1, 3});
  CHECK(layer.trainable_variables().size() == 2);
  REQUIRE(layer.non_trainable_variables().size() == 2);
  CHECK(layer.moving_mean().name() == "bn1/moving_mean");
  CHECK(layer.moving_mean().synchronization() == VariableSynchronization::OnRead);
  CHECK(layer.moving_mean().aggregation() == VariableAggregation::Mean);
}

TEST_CASE("a frozen batch normalization does not use the batch", "[nn][normalization]") {
  nn::BatchNormalization layer;
  layer.set_trainable(false);
  const Tensor y = layer(fill({4, 2}, 3.0f), {.training = true});
  CHECK(y.to_vector()[0] == Approx(3.0 / std::sqrt(1.001)));
  CHECK(layer.moving_mean().value().to_vector() == std::vector<float>{0, 0});
  CHECK(layer.trainable_variables().empty());
}

TEST_CASE("an empty batch leaves the moving values alone", "[nn][normalization]") {
  nn::BatchNormalization layer;
  CHECK(layer(zeros({0, 2}), {.training = true}).shape() == Shape{0, 2});
  CHECK(layer.moving_variance().value().to_vector() == std::vector<float>{1, 1});
}

TEST_CASE("a fused relu is that of a separate one", "[nn][normalization]") {
  const Tensor x = golden_input({2, 5, 5, 2});
  nn::BatchNormalization plain, fused({.activation = nn::relu});
  const auto wanted = nn::relu(plain(x, {.training = true})).to_vector();
  const auto got = fused(x, {.training = true}).to_vector();
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(wanted[i]).margin(1e-6));
}

TEST_CASE("synchronized batch normalization sees the batches of all replicas",
          "[nn][normalization]") {
  const Tensor x = golden_input({6, 4});
  nn::BatchNormalization alone({.momentum = 0.5});
  const auto wanted = alone(x, {.training = true}).to_vector();
  const nn::BatchNormalizationOptions options{.momentum = 0.5, .synchronized = true};
  nn::BatchNormalization layers[] = {nn::BatchNormalization(options),
                                     nn::BatchNormalization(options)};
  std::vector<float> parts[2];
  for (nn::BatchNormalization& layer : layers) layer.ensure_built(x.shape());
  run_two_replicas([&](int replica) {  // uneven parts: two rows and four
    const Tensor mine = replica == 0 ? x.rows(0, 2) : x.rows(2, 6);
    parts[replica] = layers[replica](mine, {.training = true}).to_vector();
  });
  parts[0].insert(parts[0].end(), parts[1].begin(), parts[1].end());
  REQUIRE(parts[0].size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) CHECK(parts[0][i] == Approx(wanted[i]).margin(1e-5));
}

TEST_CASE("gradients of a synchronized batch normalization are those of the whole batch",
          "[nn][normalization]") {
  const nn::ActivationFunction activation =
      GENERATE(nn::ActivationFunction(nullptr), nn::ActivationFunction(nn::relu));
  const DType dtype = GENERATE(DType::Float32, DType::BFloat16, DType::Float16);
  const Tensor x = golden_input({6, 4}), residual = x * x - 0.4f, weights = x - 0.5f * x * x + 0.3f;
  const auto layer = [&](bool synchronized) {
    nn::BatchNormalization made({.synchronized = synchronized, .activation = activation});
    made.set_dtype_policy(nn::Policy(dtype == DType::Float32    ? "float32"
                                     : dtype == DType::BFloat16 ? "mixed_bfloat16"
                                                                : "mixed_float16"));
    made.ensure_built(x.shape());
    return made;
  };
  const auto gradients = [&](nn::BatchNormalization& norm, int64_t begin, int64_t end) {
    const Tensor own = x.rows(begin, end), side = residual.rows(begin, end);
    WatchingTape tape({own, side});
    const Tensor gamma = norm.gamma().value(), beta = norm.beta().value();
    const Tensor y = norm.with_residual(own, side, {.training = true});
    const Tensor target = reduce_sum(cast(y, DType::Float32) * weights.rows(begin, end));
    return tape.gradient(target, std::vector<Tensor>{own, side, gamma, beta});
  };
  nn::BatchNormalization alone = layer(false), first = layer(true), second = layer(true);
  const auto whole = gradients(alone, 0, 6);
  std::vector<Tensor> parts[2];
  run_two_replicas([&](int replica) {  // uneven parts: two rows and four
    parts[replica] = replica == 0 ? gradients(first, 0, 2) : gradients(second, 2, 6);
  });
  const float margin = dtype == DType::Float32 ? 1e-5f : 4e-2f;
  for (size_t i = 0; i < 4; ++i) {
    auto got = parts[0][i].to_vector();
    const auto more = parts[1][i].to_vector(), wanted = whole[i].to_vector();
    if (i < 2) got.insert(got.end(), more.begin(), more.end());
    for (size_t k = 0; k < got.size() && i >= 2; ++k) got[k] += more[k];
    REQUIRE(got.size() == wanted.size());
    for (size_t k = 0; k < got.size(); ++k) CHECK(got[k] == Approx(wanted[k]).margin(margin));
  }
}

TEST_CASE("layer normalization gives Keras's values and gradients", "[nn][normalization]") {
  nn::LayerNormalization layer;
  check_golden(layer, {2, 5, 10},
               {{2, 5, 10}, 4.81340933, 0.226148725, 31.638073, {117.427361, 15.3077736, 2000}});
}

TEST_CASE("spectral normalization needs a kernel and keeps the weight's gradient",
          "[nn][normalization]") {
  nn::SpectralNormalization layer(nn::Dense({.units = 2}));
  const Tensor x(Shape{1, 2}, std::vector<float>{1, 2});
  layer(x);
  REQUIRE(layer.variables().size() == 3);
  const Variable kernel = layer.variables()[0], u = layer.variables()[1];
  CHECK(kernel == layer.layer().variables()[0]);
  CHECK(layer.trainable_variables().size() == 2);
  CHECK(layer.count_params() == 8);
  kernel.assign(Tensor(Shape{2, 2}, std::vector<float>{3, 0, 0, 1}));
  u.assign(Tensor(Shape{1, 2}, std::vector<float>{1, 0}));
  layer(x);  // not in training
  CHECK(kernel.value().to_vector() == std::vector<float>{3, 0, 0, 1});
  GradientTape tape;
  const Tensor loss = reduce_sum(layer(x, {.training = true}));
  CHECK(kernel.value().to_vector()[0] == Approx(1));
  CHECK(kernel.value().to_vector()[3] == Approx(1.0 / 3));
  CHECK(tape.gradient(loss, kernel).to_vector() == std::vector<float>{1, 1, 2, 2});
  layer.layer().set_trainable(false);
  CHECK(layer.trainable_variables().empty());
  CHECK(layer.non_trainable_variables().size() == 3);
  CHECK_THROWS_AS(nn::SpectralNormalization(nn::LSTM({.units = 2}))(zeros({1, 2, 3})),
                  InvalidArgumentError);
}

TEST_CASE("batch renormalization follows Keras's statistics", "[nn][normalization]") {
  nn::BatchNormalization layer({.momentum = 0.5,
                                .epsilon = 0,
                                .renorm = true,
                                .renorm_clipping = {.rmax = 1.5, .dmax = 0.25},
                                .renorm_momentum = 0.75});
  const Tensor x({4, 1}, std::vector<float>{0, 0, 4, 4});  // mean 2, deviation 2
  // r = 2 / 1 and d = (2 - 0) / 1 are cut to 1.5 and 0.25.
  check_close(layer(x, {.training = true}), {-1.25, -1.25, 1.75, 1.75}, 1e-5);
  CHECK(layer.moving_mean().value().to_vector().at(0) == 1);
  CHECK(layer.moving_variance().value().to_vector().at(0) == Approx(2.25));  // (0.5 + 1)^2
  const auto all = layer.variables();
  REQUIRE(all.size() == 7);
  CHECK(all[4].value().to_vector().at(0) == 1.5f);   // moving_stddev
  CHECK(all[5].value().to_vector().at(0) == 0.5f);   // renorm_mean
  CHECK(all[6].value().to_vector().at(0) == 1.25f);  // renorm_stddev
  CHECK_THROWS_AS(nn::BatchNormalization({.renorm = true, .renorm_clipping = {.dmax = -1}}),
                  InvalidArgumentError);
}

TEST_CASE("replicas renormalize with their own batch, or with all batches together",
          "[nn][normalization]") {
  // Of Keras 3.15 under MirroredStrategy of two CPUs.
  const std::vector<double> own[] = {{-1.2498126, -1.2498126, 1.7498126, 1.7498126},
                                     {-0.75, -0.75, 1.25, 1.25}};
  const std::vector<double> together[] = {{-1.6469873, -1.6469873, 2.1469874, 2.1469874},
                                          {-0.6984937, -0.6984937, 1.1984936, 1.1984936}};
  for (const bool synchronized : {false, true}) {
    const nn::BatchNormalizationOptions options{.momentum = 0.5,
                                                .renorm = true,
                                                .renorm_clipping = {.rmax = 1.5, .dmax = 0.25},
                                                .renorm_momentum = 0.75,
                                                .synchronized = synchronized};
    nn::BatchNormalization layers[] = {nn::BatchNormalization(options),
                                       nn::BatchNormalization(options)};
    Tensor parts[2];
    for (nn::BatchNormalization& layer : layers) layer.ensure_built({4, 1});
    run_two_replicas([&](int replica) {
      const Tensor x(
          {4, 1}, replica == 0 ? std::vector<float>{0, 0, 4, 4} : std::vector<float>{1, 1, 3, 3});
      parts[replica] = layers[replica](x, {.training = true});
    });
    for (int replica : {0, 1})
      check_close(parts[replica], (synchronized ? together : own)[replica], 1e-5);
    CHECK(layers[0].moving_variance().value().to_vector().at(0) ==
          Approx(synchronized ? 1.6649774 : 2.2493749).epsilon(1e-5));
  }
}
