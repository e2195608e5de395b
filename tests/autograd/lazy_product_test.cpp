#include <distribute/autograd/detail/lazy_product.hpp>

#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include "../support/catch.hpp"
#include "../support/cpu_backends.hpp"
#include "../support/gradient_check.hpp"

using namespace distribute;
using namespace distribute::autograd_internal;

namespace {

const Shape kLarge{640, 512};

/// The gradient of a dense layer's kernel, with lazy products or without.
template <typename Function>
Tensor kernel_gradient(const Variable& kernel, bool lazy, Function layer) {
  const Tensor x = test_tensor({3, kernel.shape()[0]}, 1);
  const LazyProductScope scope(lazy);
  GradientTape tape;
  return tape.gradient(reduce_sum(layer(x, kernel.value())), kernel);
}

Tensor dense_layer(const Tensor& x, const Tensor& kernel) { return nn::dense(x, kernel); }

void check_near(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape() == b.shape());
  const auto x = a.to_vector(), y = b.to_vector();
  float worst = 0;
  for (size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(x[i] - y[i]));
  CHECK(worst < 1e-4f);
}

}  // namespace

TEST_CASE("a lazy product is computed when its elements are read", "[autograd][lazy_product]") {
  const Tensor a = test_tensor({3, 5}, 1), b = test_tensor({3, 4}, 2);
  for (Backend* engine : cpu_backends()) {
    const ScopedCpuBackend scope(*engine);
    const Tensor lazy = lazy_product(a, b), product = matmul(a, b, {.transpose_a = true});
    CHECK(is_lazy_product(lazy));
    CHECK(!is_lazy_product(product));
    CHECK(!is_lazy_product(lazy.row_major()));
    check_near(lazy, product);
    check_near(lazy.rows(1, 3), product.rows(1, 3));
    check_near(lazy * 2.0f, product * 2.0f);
    check_near(lazy * lazy, product * product);
    check_near(cast(lazy, DType::BFloat16), cast(product, DType::BFloat16));
    check_near(lazy.to({DeviceType::Cpu, 1}), product);
    check_near(combine(lazy, product, 1.0f), product * 2.0f);
    check_near(combine(product, lazy, -1.0f), zeros_like(product));
    check_near(combine(lazy, lazy, 1.0f), product * 2.0f);
  }
}

TEST_CASE("an update reads whole rows of a lazy product, bit by bit the same in any cut",
          "[autograd][lazy_product]") {
  if (simd_level() < 2) SKIP("without AVX-512 there are no lazy products: bits depend on the cut");
  const Tensor a = test_tensor({7, 100}, 1), b = test_tensor({7, 48}, 2);
  for (Backend* engine : cpu_backends()) {
    const ScopedCpuBackend scope(*engine);
    const Tensor lazy = for_update(lazy_product(a, b), nullptr);
    REQUIRE(is_lazy_product(lazy));
    const std::vector<float> whole = lazy.to_vector();
    std::vector<float> scratch;
    for (const int64_t rows : {1, 3, 20, 100})
      for (int64_t row = 0; row < 100; row += rows) {
        const int64_t count = std::min(rows, 100 - row) * 48;
        const float* part = update_elements(lazy, row * 48, count, scratch);
        CHECK(std::equal(part, part + count, whole.begin() + row * 48));
      }
    CHECK(update_slice(lazy, 100) == 96);
    CHECK(update_slice(lazy, 10) == 48);
    CHECK(update_slice(a, 100) == 100);
    CHECK(update_elements(a, 5, 10, scratch) == a.data<float>().data() + 5);
  }
}

TEST_CASE("large kernels get lazy products in the scope that asks for them",
          "[autograd][lazy_product]") {
  const Variable kernel(test_tensor(kLarge, 3));
  if (simd_level() < 2) SKIP("without AVX-512 there are no lazy products");
  const Tensor plain = kernel_gradient(kernel, false, dense_layer);
  const Tensor lazy = kernel_gradient(kernel, true, dense_layer);
  CHECK(!is_lazy_product(plain));
  CHECK(is_lazy_product(lazy));
  check_near(lazy, plain);
  CHECK(!is_lazy_product(kernel_gradient(Variable(test_tensor({20, 30}, 3)), true, dense_layer)));
}

TEST_CASE("operations between a variable and its product see elements",
          "[autograd][lazy_product]") {
  const Variable kernel(test_tensor(kLarge, 3));
  const auto scaled = [](const Tensor& x, const Tensor& w) { return nn::dense(x, w * w); };
  const auto twice = [](const Tensor& x, const Tensor& w) {
    return nn::dense(x, w) + 2.0f * nn::dense(x + 1.0f, w);
  };
  check_near(kernel_gradient(kernel, true, scaled), kernel_gradient(kernel, false, scaled));
  check_near(kernel_gradient(kernel, true, twice), kernel_gradient(kernel, false, twice));
}

TEST_CASE("a gradient that is differentiated again is no lazy product",
          "[autograd][lazy_product]") {
  const Variable kernel(test_tensor(kLarge, 3));
  const Tensor x = test_tensor({3, 640}, 1);
  const LazyProductScope scope(true);
  WatchingTape outer({x});
  GradientTape inner;
  const Tensor y = nn::dense(x, kernel.value());
  const Tensor gradient = inner.gradient(reduce_sum(y * y), kernel);
  CHECK(!is_lazy_product(gradient));
  CHECK(outer.gradient(reduce_sum(gradient), x).shape() == x.shape());
}
