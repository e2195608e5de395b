#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

#include "support/blocked_layout.hpp"
#include "support/catch.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;

namespace {

/// Mean and variance (divided by n) of each channel, in double.
std::pair<std::vector<double>, std::vector<double>> channel_statistics(const Tensor& x) {
  const size_t channels = size_t(x.shape()[-1]);
  const std::vector<float> values = x.to_vector();
  std::vector<double> mean(channels), variance(channels);
  const double rows = double(values.size() / channels);
  for (size_t i = 0; i < values.size(); ++i) mean[i % channels] += double(values[i]) / rows;
  for (size_t i = 0; i < values.size(); ++i)
    variance[i % channels] += std::pow(double(values[i]) - mean[i % channels], 2) / rows;
  return {mean, variance};
}

void check_close(const Tensor& actual, const std::vector<double>& expected, double tolerance) {
  const std::vector<float> values = actual.to_vector();
  REQUIRE(values.size() == expected.size());
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i)
    worst = std::max(worst, std::abs(double(values[i]) - expected[i]));
  CHECK(worst <= tolerance);
}

void check_same(const Tensor& a, const Tensor& b, double tolerance) {
  const std::vector<float> values = b.to_vector();
  check_close(a, std::vector<double>(values.begin(), values.end()), tolerance);
}

/// y and all gradients of a weighted sum.
std::vector<Tensor> run_training(const Tensor& x, const Tensor& scale, const Tensor& offset,
                                 Epilogue epilogue) {
  WatchingTape tape({x, scale, offset});
  const auto result = nn::fused_batch_norm(x, scale, offset, {.epilogue = epilogue});
  const Tensor weights = test_tensor(x.shape(), 77);
  auto gradients =
      tape.gradient(std::vector<Tensor>{result.y}, std::vector<Tensor>{x, scale, offset},
                    {.output_gradients = {weights}});
  gradients.push_back(result.y);
  gradients.push_back(result.batch_mean);
  gradients.push_back(result.batch_variance);
  return gradients;
}

}  // namespace

TEST_CASE("training normalizes with the statistics of the batch", "[ops][batch_norm]") {
  const Tensor x = test_tensor({4, 5, 3, 19}, 1, 2, 6), scale = test_tensor({19}, 2, 0.5f, 2),
               offset = test_tensor({19}, 3);
  const auto result = nn::fused_batch_norm(x, scale, offset, {.epsilon = 1e-3f});
  const auto [mean, variance] = channel_statistics(x);
  CHECK(result.has_statistics);
  check_close(result.batch_mean, mean, 3e-6);
  check_close(result.batch_variance, variance, 3e-6);
  std::vector<double> expected;
  const auto values = x.to_vector(), factor = scale.to_vector(), shift = offset.to_vector();
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t c = i % 19;
    expected.push_back((double(values[i]) - mean[c]) / std::sqrt(variance[c] + 1e-3) *
                           double(factor[c]) +
                       double(shift[c]));
  }
  check_close(result.y, expected, 1e-5);
}

TEST_CASE("statistics far from zero keep their digits", "[ops][batch_norm]") {
  const Tensor x = test_tensor({9000, 3}, 5, 1000, 1001);
  const auto result = nn::fused_batch_norm(x, {}, {});
  const auto [mean, variance] = channel_statistics(x);
  check_close(result.batch_mean, mean, 1e-4);
  check_close(result.batch_variance, variance, 1e-6);
}

TEST_CASE("inference uses the given statistics", "[ops][batch_norm]") {
  const Tensor x({2, 2}, std::vector<float>{1, 2, 3, 6}), mean{1.0f, 2.0f}, variance{3.0f, 15.0f},
      scale{2.0f, 4.0f}, offset{0.5f, -1.0f};
  const auto result = nn::fused_batch_norm(
      x, scale, offset, {.epsilon = 1, .training = false, .mean = mean, .variance = variance});
  CHECK_FALSE(result.has_statistics);
  CHECK(result.y.to_vector() == std::vector<float>{0.5f, -1, 2.5f, 3});
  CHECK(nn::batch_normalization(x, mean, variance, offset, scale, 1).to_vector() ==
        result.y.to_vector());
  CHECK(nn::batch_normalization(x, mean, variance, offset, scale, 1, Epilogue::Relu).to_vector() ==
        std::vector<float>{0.5f, 0, 2.5f, 3});
}

TEST_CASE("means of any broadcastable shape are accepted", "[ops][batch_norm]") {
  const Tensor x = test_tensor({3, 2, 4}), mean = test_tensor({4}, 2),
               variance = test_tensor({4}, 3, 1, 2);
  const Tensor y = nn::batch_normalization(x, mean, variance, {}, {}, 1e-3f);
  check_same(nn::batch_normalization(x, mean.view({1, 1, 4}), variance.view({1, 4}), {}, {}, 1e-3f),
             y, 0);
  const Tensor rows = test_tensor({3, 1, 1}, 4), one(1.0f);
  check_same(nn::batch_normalization(x, rows, one, {}, {}, 0), x - rows, 1e-6);
}

TEST_CASE("gradients of batch normalization", "[ops][batch_norm]") {
  const Tensor x = test_tensor({2, 3, 2, 3}), scale = test_tensor({3}, 2, 0.5f, 1.5f),
               offset = test_tensor({3}, 3), mean = test_tensor({3}, 4),
               variance = test_tensor({3}, 5, 0.5f, 1);
  SECTION("fused training form, with its statistics") {
    check_gradients(
        [](auto& in) {
          const auto r = nn::fused_batch_norm(in[0], in[1], in[2]);
          return std::vector<Tensor>{r.y, r.batch_mean, r.batch_variance};
        },
        {x, scale, offset});
  }
  SECTION("statistics alone") {
    check_gradient([](auto& in) { return nn::fused_batch_norm(in[0], {}, {}).batch_variance; },
                   {x});
  }
  SECTION("given statistics") {
    check_gradient(
        [](auto& in) { return nn::batch_normalization(in[0], in[1], in[2], in[3], in[4], 1e-3f); },
        {x, mean, variance, offset, scale});
  }
  SECTION("moments, fused and over other axes") {
    for (const std::vector<int>& axes : {std::vector<int>{0, 1, 2}, std::vector<int>{1, 3}})
      check_gradients(
          [&](auto& in) {
            const auto m = nn::moments(in[0], axes);
            return std::vector<Tensor>{m.mean, m.variance};
          },
          {x});
  }
  SECTION("synchronized form: moments from outside") {
    check_gradient(
        [](auto& in) {
          const auto m = nn::moments(in[0], {0, 1, 2});
          return nn::batch_normalization(in[0], m.mean, m.variance, in[2], in[1], 1e-3f);
        },
        {x, scale, offset});
  }
  SECTION("ReLU epilogue, away from its kink") {
    const Tensor high{3.0f, -4.0f, 3.5f};
    check_gradient(
        [](auto& in) {
          return nn::fused_batch_norm(in[0], in[1], in[2], {.epilogue = Epilogue::Relu}).y;
        },
        {x, scale, high});
  }
}

TEST_CASE("the synchronized composition equals the fused form", "[ops][batch_norm]") {
  const Tensor x = test_tensor({8, 4, 4, 20}), scale = test_tensor({20}, 2),
               offset = test_tensor({20}, 3);
  const auto m = nn::moments(x, {0, 1, 2}, true);
  CHECK(m.mean.shape() == Shape{1, 1, 1, 20});
  check_same(nn::batch_normalization(x, m.mean, m.variance, offset, scale, 1e-3f),
             nn::fused_batch_norm(x, scale, offset).y, 1e-6);
}

TEST_CASE("blocked images give the same as row-major ones", "[ops][batch_norm]") {
  const int64_t channels = GENERATE(16, 32, 20, 5), inner = GENERATE(8, 16);
  const Epilogue epilogue = GENERATE(Epilogue::None, Epilogue::Relu);
  const Tensor x = test_tensor({3, 5, 7, channels}), scale = test_tensor({channels}, 2, 0.5f, 2),
               offset = test_tensor({channels}, 3);
  const Tensor blocked = in_layout(x, std::make_shared<BlockedLayout>(x.shape(), inner));
  const auto expected = run_training(x, scale, offset, epilogue);
  const auto actual = run_training(blocked, scale, offset, epilogue);
  CHECK(actual[0].layout() == blocked.layout());
  CHECK(actual[3].layout() == blocked.layout());
  for (size_t i = 0; i < expected.size(); ++i) check_same(actual[i], expected[i], 2e-5);
  const auto bytes = [](const Tensor& t) {
    const float* begin = t.array().data<float>();
    return std::vector<float>(begin, begin + t.layout()->bytes() / 4);
  };
  const Tensor again = in_layout(actual[3].row_major(), blocked.layout());
  CHECK(bytes(again) == bytes(actual[3]));  // padding is zero
}

TEST_CASE("results do not depend on the number of threads", "[ops][batch_norm]") {
  const int64_t channels = GENERATE(8, 16, 48);
  const Tensor x = test_tensor({20, 16, 16, channels}), scale = test_tensor({channels}, 2),
               offset = test_tensor({channels}, 3);
  const int before = intra_op_threads();
  set_intra_op_threads(1);
  const auto one = run_training(x, scale, offset, Epilogue::Relu);
  set_intra_op_threads(3);
  const auto three = run_training(x, scale, offset, Epilogue::Relu);
  set_intra_op_threads(before);
  for (size_t i = 0; i < one.size(); ++i) CHECK(one[i].to_vector() == three[i].to_vector());
}

TEST_CASE("an empty batch has no statistics and no NaN", "[ops][batch_norm]") {
  const Tensor scale = ones({3}), offset = zeros({3});
  const auto result = run_training(zeros({0, 2, 2, 3}), scale, offset, Epilogue::None);
  CHECK_FALSE(nn::fused_batch_norm(zeros({0, 3}), scale, offset).has_statistics);
  CHECK(result[0].shape() == Shape{0, 2, 2, 3});
  for (size_t i : {1, 2, 4, 5}) CHECK(result[i].to_vector() == std::vector<float>{0, 0, 0});
}

TEST_CASE("a gradient gated by the ReLU before says so", "[ops][batch_norm]") {
  Tensor source = test_tensor({4, 6});
  WatchingTape tape({source});
  const auto flat = source.to_vector();
  std::vector<float> positive;
  for (float value : flat) positive.push_back(std::max(value, 0.0f));
  Tensor x({4, 6}, positive);
  TensorHints::of(x).relu_output = true;
  Tensor seen;
  record("probe", {source}, x, [&](const Backward& b) {
    seen = b.gradient();
    return std::vector<Tensor>{b.gradient()};
  });
  const Tensor y = nn::fused_batch_norm(x, {}, {}).y;
  tape.gradient(y * y * y, source);
  REQUIRE(TensorHints::of(seen).gated);
  for (size_t i = 0; i < flat.size(); ++i)
    if (flat[i] <= 0) CHECK(seen.to_vector()[i] == 0);
}

TEST_CASE("half precision is normalized in float32", "[ops][batch_norm]") {
  const Tensor x = cast(test_tensor({6, 4}), DType::BFloat16), scale = ones({4});
  const auto result = nn::fused_batch_norm(x, scale, {});
  CHECK(result.y.dtype() == DType::BFloat16);
  CHECK(result.batch_mean.dtype() == DType::Float32);
  check_same(result.y, nn::fused_batch_norm(cast(x, DType::Float32), scale, {}).y, 0.02);
}

TEST_CASE("batch normalization shows shapes that do not fit", "[ops][batch_norm]") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH(nn::fused_batch_norm(x, zeros({4}), {}),
                    "fused_batch_norm: scale [4] does not fit the channels of [2, 3]");
  CHECK_THROWS_AS(nn::fused_batch_norm(x, {}, {}, {.training = false}), InvalidArgumentError);
  CHECK_THROWS_AS(nn::batch_normalization(x, zeros({2}), ones({2}), {}, {}, 0),
                  InvalidArgumentError);
  CHECK_THROWS_AS(nn::fused_batch_norm(zeros({2, 3}, DType::Int32), {}, {}), InvalidArgumentError);
}

TEST_CASE("a second derivative of the fused form says that it is missing", "[ops][batch_norm]") {
  const Tensor x = test_tensor({4, 3});
  WatchingTape outer({x});
  Tensor gradient;
  {
    WatchingTape inner({x});
    const Tensor y = nn::fused_batch_norm(x, {}, {}).y;
    gradient = inner.gradient(y * y * y, x);
  }
  CHECK_THROWS_AS(outer.gradient(gradient, x), UnimplementedError);
}

namespace {

/// y and the gradients of a weighted sum, with a residual, by the fused operation or by parts.
std::vector<Tensor> run_residual(const std::vector<Tensor>& in, Epilogue epilogue, bool fused,
                                 bool twice) {
  WatchingTape tape(in);
  const Tensor &x = in[0], &scale = in[1], &offset = in[2], &residual = in[3];
  Tensor y;
  if (fused) {
    y = nn::fused_batch_norm(x, scale, offset, {.residual = residual, .epilogue = epilogue}).y;
  } else {
    y = nn::fused_batch_norm(x, scale, offset).y + residual;
    if (epilogue == Epilogue::Relu) y = nn::relu(y);
  }
  // Read twice, the gradient of y arrives in two parts.
  const Tensor weights = cast(test_tensor(x.shape(), 77), y.dtype());
  const Tensor z =
      twice ? y * weights + y * cast(test_tensor(x.shape(), 78), y.dtype()) : y * weights;
  auto gradients = tape.gradient(z, in);
  gradients.push_back(y);
  return gradients;
}

}  // namespace

TEST_CASE("a residual is added in the pass that normalizes", "[ops][batch_norm][residual]") {
  const Epilogue epilogue = GENERATE(Epilogue::None, Epilogue::Relu);
  const bool twice = GENERATE(false, true);
  const int64_t channels = GENERATE(3, 16, 80);
  const std::vector<Tensor> in{test_tensor({4, 5, 3, channels}, 1, 2, 6),
                               test_tensor({channels}, 2, 0.5f, 2), test_tensor({channels}, 3),
                               test_tensor({4, 5, 3, channels}, 4)};
  INFO(channels << " channels, relu " << int(epilogue) << ", twice " << twice);
  const auto fused = run_residual(in, epilogue, true, twice);
  const auto parts = run_residual(in, epilogue, false, twice);
  REQUIRE(fused.size() == parts.size());
  for (size_t i = 0; i < fused.size(); ++i) check_same(fused[i], parts[i], 2e-4);
}

TEST_CASE("a residual in a blocked layout gives the numbers of row-major images",
          "[ops][batch_norm][residual]") {
  const Shape shape{2, 4, 3, 32};
  std::vector<Tensor> in{test_tensor(shape, 1, 2, 6), test_tensor({32}, 2, 0.5f, 2),
                         test_tensor({32}, 3), test_tensor(shape, 4)};
  const auto plain = run_residual(in, Epilogue::Relu, true, true);
  const auto layout = std::make_shared<BlockedLayout>(shape, 16);
  in[0] = in_layout(in[0], layout);
  const auto blocked = run_residual(in, Epilogue::Relu, true, true);
  for (size_t i = 0; i < plain.size(); ++i) check_same(blocked[i], plain[i], 1e-5);
}

TEST_CASE("gradients of the fused residual form", "[ops][batch_norm][residual]") {
  const Tensor x = test_tensor({2, 3, 2, 3}), residual = test_tensor({2, 3, 2, 3}, 6);
  const Tensor scale = test_tensor({3}, 2, 0.5f, 1.5f), offset = test_tensor({3}, 3);
  check_gradient(
      [](auto& in) { return nn::fused_batch_norm(in[0], in[1], in[2], {.residual = in[3]}).y; },
      {x, scale, offset, residual});
  // Far from the kink: all elements are open.
  check_gradient(
      [](auto& in) {
        return nn::fused_batch_norm(in[0], in[1], in[2],
                                    {.residual = in[3], .epilogue = Epilogue::Relu})
            .y;
      },
      {x, scale, offset, residual + 20.0f});
}

TEST_CASE("inference adds the residual, too", "[ops][batch_norm][residual]") {
  const Tensor x({2, 2}, std::vector<float>{1, 2, 3, 6}), mean{1.0f, 2.0f}, variance{3.0f, 15.0f};
  const Tensor residual({2, 2}, std::vector<float>{-1, 0.5f, -3, 2});
  const auto result = nn::fused_batch_norm(x, {}, {},
                                           {.epsilon = 1,
                                            .training = false,
                                            .mean = mean,
                                            .variance = variance,
                                            .residual = residual,
                                            .epilogue = Epilogue::Relu});
  CHECK(result.y.to_vector() == std::vector<float>{0, 0.5f, 0, 3});
}

TEST_CASE("a gradient that is shared is not overwritten", "[ops][batch_norm][residual]") {
  const Tensor x = test_tensor({4, 4, 4, 16}), dy = test_tensor({4, 4, 4, 16}, 2);
  const std::vector<float> before = dy.to_vector();
  WatchingTape tape({x}, {.persistent = true});
  const Tensor y = nn::fused_batch_norm(x, {}, {}, {.epilogue = Epilogue::Relu}).y;
  const auto gradient = [&] {
    return tape
        .gradient(std::vector<Tensor>{y}, std::vector<Tensor>{x}, {.output_gradients = {dy}})[0]
        .to_vector();
  };
  const auto first = gradient();
  CHECK(gradient() == first);
  CHECK(dy.to_vector() == before);
}

TEST_CASE("bfloat16 batch norm rounds what float32 gives", "[ops][batch_norm][residual]") {
  const int64_t channels = GENERATE(5, 16, 64, 72);
  const Shape shape{3, 5, 4, channels};
  const auto half = [](const Tensor& t) { return cast(t, DType::BFloat16); };
  const auto rounded = [&](const Tensor& t) { return cast(half(t), DType::Float32); };
  const Tensor x = rounded(test_tensor(shape, 1, 2, 6)), residual = rounded(test_tensor(shape, 4));
  const Tensor scale = test_tensor({channels}, 2, 0.5f, 2), offset = test_tensor({channels}, 3);
  const auto wide = run_residual({x, scale, offset, residual}, Epilogue::Relu, true, false);
  const auto narrow =
      run_residual({half(x), scale, offset, half(residual)}, Epilogue::Relu, true, false);
  CHECK(narrow[0].dtype() == DType::BFloat16);
  CHECK(narrow[1].dtype() == DType::Float32);
  INFO(channels << " channels");
  for (size_t i = 0; i < wide.size(); ++i) {
    float largest = 0;
    for (float value : wide[i].to_vector()) largest = std::max(largest, std::abs(value));
    check_same(narrow[i], wide[i], 0.02 * double(largest));  // 8 bits, rounded twice
  }
}

TEST_CASE("a residual must be as x", "[ops][batch_norm][residual]") {
  const Tensor x = test_tensor({2, 3, 2, 3});
  CHECK_THROWS_AS(nn::fused_batch_norm(x, {}, {}, {.residual = test_tensor({2, 3, 2, 1})}),
                  InvalidArgumentError);
  CHECK_THROWS_AS(nn::fused_batch_norm(x, {}, {}, {.residual = cast(x, DType::BFloat16)}),
                  InvalidArgumentError);
}
