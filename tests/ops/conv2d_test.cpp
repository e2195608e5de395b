#include <distribute/ops/convolution.hpp>

#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/ops/reduce.hpp>

#include "../support/catch.hpp"
#include "../support/cpu_backends.hpp"
#include "../support/gradient_check.hpp"

using namespace distribute;
using nn::Conv2DOptions;

namespace {

struct Case {
  Shape input, filters;
  Conv2DOptions options;
};

/// Sums in double, straight from the definition.
std::vector<double> reference(const Case& c, const Tensor& x, const Tensor& w, const Tensor& y) {
  const auto &in = c.input, &k = c.filters, &out = y.shape();
  const int64_t outputs = k[3] / c.options.groups;
  std::array<int64_t, 2> before{};
  for (int a = 0; a < 2; ++a)
    before[size_t(a)] = window_axis("test", in[1 + a], k[a], c.options.strides[size_t(a)],
                                    c.options.dilations[size_t(a)], c.options.padding,
                                    c.options.explicit_paddings[size_t(2 * a)],
                                    c.options.explicit_paddings[size_t(2 * a + 1)])
                            .pad_before;
  std::vector<double> result(size_t(out.num_elements()));
  size_t at = 0;
  for (int64_t n = 0; n < out[0]; ++n)
    for (int64_t oy = 0; oy < out[1]; ++oy)
      for (int64_t ox = 0; ox < out[2]; ++ox)
        for (int64_t o = 0; o < out[3]; ++o, ++at)
          for (int64_t ky = 0; ky < k[0]; ++ky)
            for (int64_t kx = 0; kx < k[1]; ++kx)
              for (int64_t i = 0; i < k[2]; ++i) {
                const int64_t iy =
                    oy * c.options.strides[0] + ky * c.options.dilations[0] - before[0];
                const int64_t ix =
                    ox * c.options.strides[1] + kx * c.options.dilations[1] - before[1];
                if (iy < 0 || iy >= in[1] || ix < 0 || ix >= in[2]) continue;
                const int64_t channel = o / outputs * k[2] + i;
                result[at] +=
                    double(x.data<float>()[size_t(((n * in[1] + iy) * in[2] + ix) * in[3] +
                                                  channel)]) *
                    double(w.data<float>()[size_t(((ky * k[1] + kx) * k[2] + i) * k[3] + o)]);
              }
  return result;
}

std::vector<Case> cases() {
  const auto same = Padding::Same;
  return {
      {{2, 5, 6, 3}, {3, 3, 3, 4}, {}},
      {{2, 5, 6, 3}, {3, 3, 3, 4}, {.padding = same}},
      {{1, 7, 7, 2}, {3, 2, 2, 5}, {.strides = {2, 2}, .padding = same}},
      {{2, 8, 6, 1}, {5, 5, 1, 16}, {.padding = same}},
      {{1, 9, 9, 2}, {3, 3, 2, 3}, {.padding = same, .dilations = {2, 2}}},
      {{1, 6, 6, 2},
       {3, 3, 2, 3},
       {.padding = Padding::Explicit, .explicit_paddings = {2, 0, 1, 3}}},
      {{2, 6, 5, 4}, {3, 3, 2, 6}, {.padding = same, .groups = 2}},
      {{2, 6, 5, 32}, {1, 1, 32, 16}, {.strides = {2, 1}}},
      {{2, 6, 5, 32}, {1, 1, 32, 24}, {}},
      {{3, 3, 5, 3}, {1, 1, 3, 5}, {}},
      {{2, 6, 5, 16}, {3, 3, 16, 32}, {.padding = same}},
      {{2, 6, 5, 16}, {3, 3, 1, 16}, {.padding = same, .groups = 16}},
  };
}

}  // namespace

TEST_CASE("conv2d equals its definition on every backend", "[ops][conv2d]") {
  for (Backend* engine : cpu_backends()) {
    const ScopedCpuBackend scope(*engine);
    int number = 0;
    for (const Case& c : cases()) {
      INFO(engine->name() << ", case " << number++);
      const Tensor x = test_tensor(c.input, 1), w = test_tensor(c.filters, 2);
      const Tensor bias = test_tensor({c.filters[3]}, 3);
      const Tensor y = nn::conv2d(x, w, c.options),
                   z = nn::conv2d(x, w, c.options, bias, Epilogue::Relu);
      const std::vector<double> expected = reference(c, x, w, y);
      const auto plain = y.to_vector(), fused = z.to_vector(), b = bias.to_vector();
      double worst = 0;
      for (size_t i = 0; i < expected.size(); ++i) {
        const double biased = std::max(expected[i] + double(b[i % b.size()]), 0.0);
        worst = std::max(
            {worst, std::abs(expected[i] - double(plain[i])), std::abs(biased - double(fused[i]))});
      }
      CHECK(worst < 2e-5);
    }
  }
}

TEST_CASE("conv2d has first and second gradients on every backend", "[ops][conv2d]") {
  for (Backend* engine : cpu_backends()) {
    const ScopedCpuBackend scope(*engine);
    int number = 0;
    for (const Case& c : cases()) {
      INFO(engine->name() << ", case " << number++);
      check_gradient(
          [&](auto& in) { return nn::conv2d(in[0], in[1], c.options, in[2]); },
          {test_tensor(c.input, 1), test_tensor(c.filters, 2), test_tensor({c.filters[3]}, 3)},
          {.second = number < 3, .per_element = 16, .directions = 4});
    }
  }
}

TEST_CASE("conv2d with ReLU gates the gradient where the output is zero", "[ops][conv2d]") {
  const Tensor x({1, 1, 2, 1}, std::vector<float>{1, -1}), w({1, 1, 1, 1}, std::vector<float>{2});
  for (Backend* engine : cpu_backends()) {
    const ScopedCpuBackend scope(*engine);
    WatchingTape tape({x});
    const Tensor y = nn::conv2d(x, w, {}, {}, Epilogue::Relu);
    CHECK(tape.gradient(y, x).to_vector() == std::vector<float>{2, 0});
  }
}

TEST_CASE("depthwise_conv2d filters each channel by itself", "[ops][conv2d]") {
  const Tensor x({1, 1, 1, 2}, std::vector<float>{3, 5});
  const Tensor w({1, 1, 2, 2}, std::vector<float>{1, 10, 100, 1000});
  for (Backend* engine : cpu_backends()) {
    const ScopedCpuBackend scope(*engine);
    CHECK(nn::depthwise_conv2d(x, w).to_vector() == std::vector<float>{3, 30, 500, 5000});
    check_gradient(
        [](auto& in) { return nn::depthwise_conv2d(in[0], in[1], {.padding = Padding::Same}); },
        {test_tensor({2, 4, 4, 3}, 1), test_tensor({3, 3, 3, 2}, 2)});
  }
}

TEST_CASE("conv2d of an empty batch is empty and its filter gradient zero", "[ops][conv2d]") {
  for (Backend* engine : cpu_backends()) {
    const ScopedCpuBackend scope(*engine);
    const Tensor x = zeros({0, 4, 4, 1}), w = ones({3, 3, 1, 2}), b = ones({2});
    WatchingTape tape({w, b});
    const Tensor y = nn::conv2d(x, w, {}, b, Epilogue::Relu);
    CHECK(y.shape() == Shape{0, 2, 2, 2});
    const auto gradients = tape.gradient(y, std::vector<Tensor>{w, b});
    CHECK(gradients[0].to_vector() == std::vector<float>(18, 0.0f));
    CHECK(gradients[1].to_vector() == std::vector<float>(2, 0.0f));
  }
}

TEST_CASE("conv2d says both shapes when they do not fit", "[ops][conv2d]") {
  const Tensor x = zeros({1, 4, 4, 3});
  CHECK_THROWS_WITH(nn::conv2d(x, zeros({3, 3, 2, 8})),
                    Contains("[1, 4, 4, 3]") && Contains("[3, 3, 2, 8]"));
  CHECK_THROWS_AS(nn::conv2d(x, zeros({5, 5, 3, 8})), InvalidArgumentError);
  CHECK_THROWS_AS(nn::conv2d(x, zeros({3, 3, 3, 8}), {}, zeros({4})), InvalidArgumentError);
  CHECK_THROWS_AS(nn::conv2d(zeros({4, 4, 3}), zeros({3, 3, 3, 8})), InvalidArgumentError);
  CHECK_THROWS_AS(nn::conv2d(x, zeros({3, 3, 3, 8}, DType::Int32)), InvalidArgumentError);
}

TEST_CASE("bfloat16 convolution rounds the float32 result", "[ops][conv2d]") {
  const Tensor x = cast(test_tensor({1, 5, 5, 2}, 1), DType::BFloat16);
  const Tensor w = cast(test_tensor({3, 3, 2, 4}, 2), DType::BFloat16);
  const Tensor y = nn::conv2d(x, w);
  CHECK(y.dtype() == DType::BFloat16);
  const Tensor wide = nn::conv2d(cast(x, DType::Float32), cast(w, DType::Float32));
  CHECK(y.to_vector() == cast(wide, DType::BFloat16).to_vector());
}

TEST_CASE("a chain of convolutions keeps oneDNN's layout and never falls back to reference code",
          "[ops][conv2d]") {
  if (!onednn_backend()) SKIP("this build has no oneDNN");
  const ScopedCpuBackend scope(*onednn_backend());
  const Tensor x = test_tensor({4, 14, 14, 32}, 1);
  const Tensor y = nn::conv2d(x, test_tensor({5, 5, 32, 64}, 2), {.padding = Padding::Same});
  CHECK(y.layout() != nullptr);
  for (const std::string& kernel : onednn_kernels_in_use()) {
    INFO(kernel);
    CHECK(kernel.find("ref") == std::string::npos);
  }
}

namespace {

/// y and the gradients of a weighted sum with respect to x and filters.
std::vector<Tensor> run_convolution(const Tensor& x, const Tensor& w,
                                    const nn::Conv2DOptions& options) {
  WatchingTape tape({x, w});
  const Tensor y = nn::conv2d(x, w, options);
  const Tensor weights = cast(test_tensor(y.shape(), 9), y.dtype());
  auto results = tape.gradient(std::vector<Tensor>{y}, std::vector<Tensor>{x, w},
                               {.output_gradients = {weights}});
  results.push_back(y);
  return results;
}

}  // namespace

TEST_CASE("bfloat16 images with float32 filters give float32 gradients of filters",
          "[ops][conv2d]") {
  struct Case {
    int64_t kernel, stride, pad, in, out;
  };
  for (Backend* backend : cpu_backends())
    for (const Case& c : {Case{1, 1, 0, 32, 48}, Case{1, 2, 0, 16, 32}, Case{3, 1, 1, 16, 16},
                          Case{3, 2, 1, 32, 16}, Case{7, 2, 3, 3, 16}, Case{3, 1, 1, 256, 16},
                          Case{3, 2, 1, 256, 16}}) {
      INFO(backend->name() << ": kernel " << c.kernel << ", stride " << c.stride);
      const ScopedCpuBackend scope(*backend);
      const nn::Conv2DOptions options{.strides = {c.stride, c.stride},
                                      .padding = Padding::Explicit,
                                      .explicit_paddings = {c.pad, c.pad, c.pad, c.pad}};
      const Tensor x = cast(test_tensor({2, 9, 9, c.in}, 1), DType::BFloat16);
      const Tensor w = cast(
          cast(test_tensor({c.kernel, c.kernel, c.in, c.out}, 2), DType::BFloat16), DType::Float32);
      const auto narrow = run_convolution(x, w, options);
      const auto wide = run_convolution(cast(x, DType::Float32), w, options);
      CHECK(narrow[0].dtype() == DType::BFloat16);
      CHECK(narrow[1].dtype() == DType::Float32);
      CHECK(narrow[2].dtype() == DType::BFloat16);
      for (size_t i = 0; i < 3; ++i) {
        const auto a = narrow[i].to_vector(), b = wide[i].to_vector();
        double largest = 0, worst = 0;
        for (size_t j = 0; j < a.size(); ++j) {
          largest = std::max(largest, std::abs(double(b[j])));
          worst = std::max(worst, std::abs(double(a[j]) - double(b[j])));
        }
        INFO("result " << i);
        CHECK(worst <= 0.01 * largest);
      }
    }
}

TEST_CASE("images keep their arrangement when they become bfloat16 and back", "[ops][conv2d]") {
  if (!onednn_backend()) SKIP("this build has no oneDNN");
  const ScopedCpuBackend scope(*onednn_backend());
  for (int64_t size : {1, 7, 30}) {
    INFO("size " << size);
    const Tensor x = nn::conv2d(test_tensor({3, size, size, 32}, 1), test_tensor({3, 3, 32, 48}, 2),
                                {.padding = Padding::Same});
    const Tensor narrow = cast(x, DType::BFloat16), wide = cast(narrow, DType::Float32);
    const Tensor plain = cast(x.row_major(), DType::BFloat16);
    CHECK(bool(narrow.layout()) == bool(x.layout()));
    CHECK(narrow.to_vector() == plain.to_vector());
    CHECK(wide.to_vector() == plain.to_vector());
    CHECK(cast(wide, DType::BFloat16).layout() == narrow.layout());
    const Tensor there = in_layout(plain, narrow.layout());
    CHECK(there.to_vector() == plain.to_vector());
    CHECK(cast(there, DType::Float32).to_vector() == plain.to_vector());
    CHECK_FALSE(cast(narrow, DType::Int32).layout());
  }
}

/// The sum of the differences' sizes: a winner of a pool may differ, so not the largest.
double distance(const Tensor& a, const Tensor& b) {
  const auto left = a.to_vector(), right = b.to_vector();
  double sum = 0;
  for (size_t i = 0; i < left.size(); ++i) sum += std::abs(double(left[i]) - double(right[i]));
  return sum;
}

TEST_CASE(
    "a bfloat16 block of convolution, batch norm and pool is exact but for roundings on every "
    "backend",
    "[ops][conv2d]") {
  const Tensor x = cast(test_tensor({2, 9, 11, 32}, 1), DType::BFloat16);
  const Tensor w = test_tensor({1, 1, 32, 64}, 2), after = test_tensor({3, 3, 64, 32}, 3);
  const auto run = [&](Backend& backend, const Tensor& image) {
    const ScopedCpuBackend scope(backend);
    WatchingTape tape({image, w, after});
    const auto norm = nn::fused_batch_norm(nn::conv2d(image, w), ones({64}), zeros({64}),
                                           {.epilogue = Epilogue::Relu});
    const Tensor pooled = nn::max_pool2d(norm.y, {.ksize = {2, 2}});
    const Tensor y = nn::conv2d(pooled, after, {.padding = Padding::Same});
    auto results = tape.gradient(y * y, std::vector<Tensor>{image, w, after});
    results.push_back(y);
    return results;
  };
  const auto exact = run(eigen_backend(), cast(x, DType::Float32));
  for (Backend* backend : cpu_backends()) {
    const auto results = run(*backend, x);
    for (size_t i = 0; i < results.size(); ++i) {
      INFO(backend->name() << ", result " << i);
      CHECK(results[i].dtype() == (i == 0 || i == 3 ? DType::BFloat16 : DType::Float32));
      // Eight values on the way are rounded to bfloat16, each by at most 2^-8 of its size.
      CHECK(distance(results[i], exact[i]) <= 8.0 / 256 * distance(exact[i], 0.0f * exact[i]));
    }
  }
}

TEST_CASE("a ReLU in a bfloat16 convolution gates its gradient", "[ops][conv2d]") {
  const Tensor x = cast(test_tensor({1, 4, 4, 16}, 1), DType::BFloat16);
  const Tensor w = test_tensor({1, 1, 16, 16}, 2);
  WatchingTape tape({x});
  const Tensor y = nn::conv2d(x, w, {}, {}, Epilogue::Relu);
  const Tensor dx = tape.gradient(y, x);
  const Tensor open = cast(greater(cast(y, DType::Float32), Tensor(0.0f)), DType::Float32);
  const Tensor wanted = nn::conv2d_backprop_input(x.shape(), w, open);
  const auto a = dx.to_vector(), b = wanted.to_vector();
  for (size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(0.02));
}
