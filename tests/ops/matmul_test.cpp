#include <distribute/ops/math.hpp>

#include <distribute/ops/array.hpp>

#include "../support/catch.hpp"
#include "../support/check_close.hpp"
#include "../support/cpu_backends.hpp"
#include "../support/gradient_check.hpp"

using namespace distribute;

TEST_CASE("matmul multiplies, with either side transposed", "[ops][matmul]") {
  const Tensor a({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor b({3, 2}, std::vector<float>{7, 8, 9, 10, 11, 12});
  const std::vector<float> expected{58, 64, 139, 154};
  for (Backend* engine : cpu_backends()) {
    const ScopedCpuBackend scope(*engine);
    const Tensor at = transpose(a), bt = transpose(b);
    CHECK(matmul(a, b).to_vector() == expected);
    CHECK(matmul(at, b, {.transpose_a = true}).to_vector() == expected);
    CHECK(matmul(a, bt, {.transpose_b = true}).to_vector() == expected);
    CHECK(matmul(at, bt, {.transpose_a = true, .transpose_b = true}).to_vector() == expected);
  }
}

TEST_CASE("gradients of kernels whose rows lie 4 KiB apart", "[ops][matmul]") {
  const int64_t wide = GENERATE(1024, 1040, 2048);
  const Tensor x = test_tensor({300, wide}, 1), dy = test_tensor({300, 8}, 2);
  for (Backend* engine : cpu_backends()) {
    const ScopedCpuBackend scope(*engine);
    const auto wanted = matmul(transpose(x), dy).to_vector();
    const std::vector<double> numbers(wanted.begin(), wanted.end());
    check_close(matmul(x, dy, {.transpose_a = true}), numbers, 1e-4);
    check_close(transpose(matmul(dy, x, {.transpose_a = true})), numbers, 1e-4);
  }
}

TEST_CASE("a product of many rows has the values of its parts", "[ops][matmul]") {
  const auto [inner, columns] = GENERATE(table<int64_t, int64_t>({{33, 17}, {64, 96}, {1, 1}}));
  const Tensor x = test_tensor({1100, inner}, 1), w = test_tensor({inner, columns}, 2);
  const Tensor bias = test_tensor({columns}, 3);
  for (Backend* engine : cpu_backends()) {
    const ScopedCpuBackend scope(*engine);
    for (const Epilogue epilogue : {Epilogue::None, Epilogue::Relu}) {
      const Tensor all = nn::dense(x, w, bias, epilogue), plain = matmul(x, w);
      for (const int64_t first : {0, 500, 1000}) {
        const Tensor some = x.rows(first, first + 100);
        const auto check = [&](const Tensor& whole, const Tensor& part) {
          const auto wanted = part.to_vector();
          check_close(whole.rows(first, first + 100), {wanted.begin(), wanted.end()}, 1e-5);
        };
        check(all, nn::dense(some, w, bias, epilogue));
        check(plain, matmul(some, w));
      }
    }
  }
}

TEST_CASE("matmul broadcasts batch axes", "[ops][matmul]") {
  const Tensor a = test_tensor({4, 1, 2, 3}, 1), b = test_tensor({5, 3, 2}, 2);
  for (Backend* engine : cpu_backends()) {
    const ScopedCpuBackend scope(*engine);
    const Tensor c = matmul(a, b);
    REQUIRE(c.shape() == Shape{4, 5, 2, 2});
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 5; ++j) {
        const Tensor one = matmul(a.rows(i, i + 1).view({2, 3}), b.rows(j, j + 1).view({3, 2}));
        for (int64_t k = 0; k < 4; ++k)
          CHECK(c.to_vector()[size_t((i * 5 + j) * 4 + k)] == Approx(one.to_vector()[size_t(k)]));
      }
  }
}

TEST_CASE("matmul has first and second gradients", "[ops][matmul]") {
  for (Backend* engine : cpu_backends()) {
    const ScopedCpuBackend scope(*engine);
    for (bool ta : {false, true})
      for (bool tb : {false, true}) {
        const Shape a = ta ? Shape{2, 3, 4} : Shape{2, 4, 3}, b = tb ? Shape{5, 3} : Shape{3, 5};
        check_gradient(
            [=](auto& in) {
              return matmul(in[0], in[1], {ta, tb});
            },
            {test_tensor(a, 1), test_tensor(b, 2)}, {.second = true});
      }
  }
}

TEST_CASE("matmul works on integers and 16-bit floats", "[ops][matmul]") {
  const Tensor a({1, 2}, std::vector<int64_t>{3, 4}), b({2, 1}, std::vector<int64_t>{5, 6});
  CHECK(matmul(a, b).item<int64_t>() == 39);
  CHECK(matmul(cast(a, DType::Int32), cast(b, DType::Int32)).item<int32_t>() == 39);
  const Tensor half = matmul(cast(a, DType::Float16), cast(b, DType::Float16));
  CHECK(half.dtype() == DType::Float16);
  CHECK(half.item<float>() == 39);
}

TEST_CASE("matmul says both shapes when inner sizes differ", "[ops][matmul]") {
  CHECK_THROWS_WITH(matmul(zeros({32, 128}), zeros({64, 10})), Contains("inner sizes differ") &&
                                                                   Contains("[32, 128]") &&
                                                                   Contains("[64, 10]"));
  CHECK_THROWS_AS(matmul(zeros({3}), zeros({3, 1})), InvalidArgumentError);
  CHECK_THROWS_AS(matmul(zeros({1, 1}), zeros({1, 1}, DType::Int32)), InvalidArgumentError);
  CHECK_THROWS_AS(matmul(zeros({2, 1, 1}), zeros({3, 1, 1})), InvalidArgumentError);
}

TEST_CASE("matmul over nothing is zero", "[ops][matmul]") {
  for (Backend* engine : cpu_backends()) {
    const ScopedCpuBackend scope(*engine);
    CHECK(matmul(zeros({2, 0}), zeros({0, 2})).to_vector() == std::vector<float>(4, 0.0f));
    CHECK(matmul(zeros({0, 2}), zeros({2, 3})).shape() == Shape{0, 3});
  }
}

TEST_CASE("dense adds the bias and applies ReLU, with gradients", "[ops][matmul]") {
  const Tensor x({2, 2}, std::vector<float>{1, 2, 3, 4}),
      w({2, 2}, std::vector<float>{1, -1, 1, -1});
  const Tensor b{1.0f, 1.0f};
  for (Backend* engine : cpu_backends()) {
    const ScopedCpuBackend scope(*engine);
    CHECK(nn::dense(x, w, b).to_vector() == std::vector<float>{4, -2, 8, -6});
    CHECK(nn::dense(x, w, b, Epilogue::Relu).to_vector() == std::vector<float>{4, 0, 8, 0});
    check_gradient([](auto& in) { return nn::dense(in[0], in[1], in[2]); },
                   {test_tensor({3, 2, 4}, 1), test_tensor({4, 5}, 2), test_tensor({5}, 3)},
                   {.second = true});
    WatchingTape tape({x});
    const Tensor y = nn::dense(x, w, b, Epilogue::Relu);
    CHECK(tape.gradient(y, x).to_vector() == std::vector<float>{1, 1, 1, 1});
  }
  CHECK_THROWS_AS(nn::dense(x, zeros({3, 2})), InvalidArgumentError);
}
