#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/math.hpp>

#include "../support/catch.hpp"
#include "../support/cpu_backends.hpp"
#include "../support/gradient_check.hpp"

using namespace distribute;

namespace {

/// Numbers in a mixed-up order, 0.1 apart: no ties, no kinks within a test's step.
Tensor distinct(const Shape& shape) {
  const int64_t count = shape.num_elements();
  std::vector<float> values(size_t(count), 0.0f);
  for (int64_t i = 0; i < count; ++i) values[size_t(i)] = 0.1f * float((i * 7919) % count) - 1.0f;
  return {shape, values};
}

}  // namespace

TEST_CASE("max_pool2d takes the largest element of each window", "[ops][pool]") {
  const Tensor x({1, 2, 4, 1}, std::vector<float>{1, 5, 2, 0, 3, 4, 8, -1});
  CHECK(nn::max_pool2d(x).to_vector() == std::vector<float>{5, 8});
  CHECK(nn::max_pool2d(x, {.ksize = {2, 2}, .strides = {1, 1}}).to_vector() ==
        std::vector<float>{5, 8, 8});
}

TEST_CASE("padding never wins a max pool", "[ops][pool]") {
  const Tensor x({1, 3, 3, 1}, std::vector<float>(9, -2.0f));
  const Tensor y = nn::max_pool2d(x, {.ksize = {2, 2}, .padding = Padding::Same});
  CHECK(y.shape() == Shape{1, 2, 2, 1});
  CHECK(y.to_vector() == std::vector<float>(4, -2.0f));
}

TEST_CASE("among equal elements the first gets the gradient of a max pool", "[ops][pool]") {
  const Tensor x({1, 2, 2, 1}, std::vector<float>{1, 3, 3, 3});
  WatchingTape tape({x});
  CHECK(tape.gradient(nn::max_pool2d(x), x).to_vector() == std::vector<float>{0, 1, 0, 0});
}

TEST_CASE("pooling has gradients for windows that tile, overlap, leave gaps or are cut",
          "[ops][pool]") {
  const std::vector<nn::PoolOptions> all{
      {},
      {.ksize = {3, 3}, .strides = {2, 2}, .padding = Padding::Same},
      {.ksize = {2, 2}, .strides = {3, 3}},
      {.ksize = {3, 2}, .strides = {1, 2}},
      {.ksize = {3, 3},
       .strides = {2, 2},
       .padding = Padding::Explicit,
       .explicit_paddings = {1, 1, 1, 1}}};
  for (int64_t channels : {1, 5, 16, 19})
    for (size_t i = 0; i < all.size(); ++i) {
      INFO("options " << i << ", channels " << channels);
      const Tensor x = distinct({2, 6, 6, channels});
      check_gradient([&](auto& in) { return nn::max_pool2d(in[0], all[i]); }, {x},
                     {.tolerance = 1e-2, .directions = 3});
      check_gradient([&](auto& in) { return nn::avg_pool2d(in[0], all[i]); }, {x},
                     {.tolerance = 1e-2, .second = true, .directions = 3});
    }
}

TEST_CASE("avg_pool2d divides by the elements inside the image", "[ops][pool]") {
  const Tensor x({1, 3, 3, 1}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(nn::avg_pool2d(x, {.ksize = {2, 2}, .padding = Padding::Same}).to_vector() ==
        std::vector<float>{3, 4.5f, 7.5f, 9});
  CHECK(nn::avg_pool2d(x, {.ksize = {3, 3}}).item<float>() == Approx(5));
}

TEST_CASE("pooling gives the same numbers on a convolution's layout as on row-major images",
          "[ops][pool]") {
  for (Backend* engine : cpu_backends()) {
    const ScopedCpuBackend scope(*engine);
    const Tensor x = test_tensor({3, 7, 8, 4}, 1), w = test_tensor({3, 3, 4, 32}, 2);
    const nn::PoolOptions options{.ksize = {3, 3}, .strides = {2, 2}, .padding = Padding::Same};
    const auto run = [&](bool plain, auto pool) {
      WatchingTape tape({w});
      Tensor h = nn::conv2d(x, w, {.padding = Padding::Same}, {}, Epilogue::Relu);
      if (plain) h = reshape(reshape(h, Shape{h.num_elements()}), h.shape());
      const Tensor y = pool(h, options);
      return std::pair(y.to_vector(), tape.gradient(y, w).to_vector());
    };
    const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
      REQUIRE(a.size() == b.size());
      for (size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-4));
    };
    for (auto pool : {&nn::max_pool2d, &nn::avg_pool2d}) {
      const auto [y, dw] = run(false, pool);
      const auto [y_plain, dw_plain] = run(true, pool);
      same(y, y_plain);
      same(dw, dw_plain);
    }
  }
}

TEST_CASE("a ReLU's output that is read twice or asked for keeps its whole gradient",
          "[ops][pool]") {
  const Tensor x({1, 2, 2, 1}, std::vector<float>{-1, -2, -3, -4}), w = ones({1, 1, 1, 1});
  WatchingTape tape({x}, {.persistent = true});
  const Tensor h = nn::conv2d(x, w, {}, {}, Epilogue::Relu);
  const Tensor y = nn::max_pool2d(h);
  CHECK(tape.gradient(y, h).to_vector() == std::vector<float>{1, 0, 0, 0});
  CHECK(tape.gradient(y, x).to_vector() == std::vector<float>{0, 0, 0, 0});
}

TEST_CASE("gradients of max_pool2d larger than the caches equal those of small batches",
          "[ops][pool]") {
  const auto gradient = [](const Tensor& x) {
    WatchingTape tape({x});
    return tape.gradient(nn::max_pool2d(x), x).to_vector();
  };
  const Shape small{1, 128, 128, 16};
  const Tensor image = test_tensor(small, 1);
  const std::vector<float> pixels = image.to_vector(), wanted = gradient(image);
  std::vector<float> copies;
  const int64_t count = 18;  // of 1 MB each
  for (int64_t n = 0; n < count; ++n) copies.insert(copies.end(), pixels.begin(), pixels.end());
  const std::vector<float> all = gradient(Tensor({count, 128, 128, 16}, copies));
  for (int64_t n = 0; n < count; ++n)
    CHECK(std::equal(wanted.begin(), wanted.end(), all.begin() + n * small.num_elements()));
}

TEST_CASE("pooling refuses what it cannot do", "[ops][pool]") {
  CHECK_THROWS_AS(nn::max_pool2d(zeros({2, 2})), InvalidArgumentError);
  CHECK_THROWS_AS(nn::max_pool2d(zeros({1, 2, 2, 1}), {.ksize = {3, 3}}), InvalidArgumentError);
  CHECK_THROWS_AS(nn::max_pool2d(zeros({1, 20, 20, 1}), {.ksize = {12, 12}}), InvalidArgumentError);
}

TEST_CASE("pooling an empty batch gives an empty batch", "[ops][pool]") {
  CHECK(nn::max_pool2d(zeros({0, 4, 4, 3})).shape() == Shape{0, 2, 2, 3});
  CHECK(nn::avg_pool2d(zeros({0, 4, 4, 3})).shape() == Shape{0, 2, 2, 3});
}

TEST_CASE("bfloat16 max pools choose what float32 chooses", "[ops][pool]") {
  const int64_t channels = GENERATE(5, 16, 48);
  for (const nn::PoolOptions& options :
       {nn::PoolOptions{.ksize = {2, 2}}, nn::PoolOptions{.ksize = {3, 3},
                                          .strides = {2, 2},
                                          .padding = Padding::Explicit,
                                          .explicit_paddings = {1, 1, 1, 1}}}) {
    const Tensor x = cast(test_tensor({2, 8, 6, channels}, 3), DType::BFloat16);
    const auto run = [&](const Tensor& input) {
      WatchingTape tape({input});
      const Tensor y = nn::max_pool2d(input, options);
      const Tensor dy = cast(cast(test_tensor(y.shape(), 4), DType::BFloat16), y.dtype());
      const auto dx = tape.gradient(std::vector<Tensor>{y}, std::vector<Tensor>{input},
                                    {.output_gradients = {dy}});
      CHECK(y.dtype() == input.dtype());
      return std::pair(y.to_vector(), cast(dx[0], DType::BFloat16).to_vector());
    };
    const auto narrow = run(x), wide = run(cast(x, DType::Float32));
    CHECK(narrow.first == wide.first);
    CHECK(narrow.second == wide.second);
  }
}

TEST_CASE("a NaN loses in max pooling, as in TensorFlow's kernel", "[ops][pool]") {
  const int64_t channels = GENERATE(1, 19);
  const DType dtype = GENERATE(DType::Float32, DType::BFloat16);
  const auto pooled = [&](const std::vector<float>& window) {
    std::vector<float> values;
    for (const float value : window) values.insert(values.end(), size_t(channels), value);
    const Tensor x = cast(Tensor(Shape{1, 2, 2, channels}, values), dtype);
    return nn::max_pool2d(x, {.ksize = {2, 2}}).to_vector();
  };
  const auto all = [&](float value) { return std::vector<float>(size_t(channels), value); };
  const float nan = std::nanf(""),
              lowest = dtype == DType::Float32 ? -3.40282347e38f : -0x1.fep127f;
  CHECK(pooled({nan, 1, 2, 3}) == all(3));
  CHECK(pooled({0, nan, 2, 3}) == all(3));
  CHECK(pooled({0, 1, 2, nan}) == all(2));
  CHECK(pooled({nan, nan, nan, -5}) == all(-5));
  CHECK(pooled({nan, nan, nan, nan}) == all(lowest));
  CHECK(pooled({-INFINITY, -INFINITY, nan, -INFINITY}) == all(lowest));
  CHECK(pooled({nan, INFINITY, 0, 0}) == all(INFINITY));
}

TEST_CASE("the gradient of max pooling goes to the number that won", "[ops][pool]") {
  const Tensor x(Shape{1, 2, 2, 1}, std::vector<float>{std::nanf(""), 1, 3, 2});
  WatchingTape tape({x});
  const Tensor y = nn::max_pool2d(x, {.ksize = {2, 2}});
  CHECK(tape.gradient(y, x).to_vector() == std::vector<float>{0, 0, 1, 0});
}
