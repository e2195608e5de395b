#include <distribute/ops/reduce.hpp>

#include <distribute/base/parallel.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

#include "../support/check_close.hpp"
#include "../support/gradient_check.hpp"

using namespace distribute;
using Floats = std::vector<float>;

namespace {

/// Sums in double by the definition.
std::vector<double> reference_sum(const Tensor& x, const std::vector<int>& axes) {
  const Shape& shape = x.shape();
  std::vector<bool> reduced(size_t(shape.rank()), axes.empty());
  for (int axis : axes) reduced[size_t(shape.normalize_axis(axis))] = true;
  std::map<int64_t, double> sums;  // by the index of the kept axes
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    int64_t rest = i, key = 0, step = 1;
    for (int axis = shape.rank() - 1; axis >= 0; rest /= shape[axis--])
      if (!reduced[size_t(axis)]) {
        key += rest % shape[axis] * step;
        step *= shape[axis];
      }
    sums[key] += double(x.data<float>()[size_t(i)]);
  }
  std::vector<double> result;
  for (const auto& [key, sum] : sums) result.push_back(sum);
  return result;
}

}  // namespace

TEST_CASE("reduce_sum agrees with double precision over any axes", "[ops][reduce]") {
  // clang-format off
  const auto [shape, axes] = GENERATE(table<Shape, std::vector<int>>({
      {{}, {}}, {{7}, {0}}, {{5000}, {}}, {{3, 4}, {0}}, {{3, 4}, {1}}, {{3, 4}, {-1}},
      {{2, 3, 4}, {0, 2}}, {{2, 3, 4}, {1}}, {{2, 3, 4}, {2, 0, 1}}, {{4, 5, 6, 7}, {0, 1, 2}},
      {{2, 3, 4, 5}, {1, 3}}, {{300, 70}, {0}}, {{3, 200, 1100}, {1}}, {{3, 5000}, {1}}}));
  // clang-format on
  const Tensor x = test_tensor(shape, 1, -1, 2);
  const Tensor sum = reduce_sum(x, axes), kept = reduce_sum(x, axes, true);
  check_close(sum, reference_sum(x, axes), 2e-6);
  CHECK(kept.shape().rank() == shape.rank());
  CHECK(kept.to_vector() == sum.to_vector());
}

TEST_CASE("long sums keep their accuracy", "[ops][reduce]") {
  CHECK(reduce_sum(fill({1 << 22}, 0.1f)).item<float>() ==
        Approx(0.1f * float(1 << 22)).epsilon(5e-7));
  check_close(reduce_mean(fill({1 << 20, 2}, 1.1f), {0}), {double(1.1f), double(1.1f)}, 5e-7);
}

TEST_CASE("reductions give the same bits for any number of threads", "[ops][reduce]") {
  const Tensor x = test_tensor({700, 333});
  const int threads = intra_op_threads();
  for (const std::vector<int>& axes : {std::vector<int>{}, {0}, {1}}) {
    set_intra_op_threads(1);
    const auto alone = reduce_sum(x, axes).to_vector();
    for (int count : {2, 3, 5}) {
      set_intra_op_threads(count);
      CHECK(reduce_sum(x, axes).to_vector() == alone);
    }
  }
  set_intra_op_threads(threads);
}

TEST_CASE("mean, product and extremes", "[ops][reduce]") {
  const Tensor x({2, 3}, Floats{1, 5, 3, -2, 0, 4});
  CHECK(reduce_mean(x).item<float>() == Approx(11.0 / 6));
  CHECK(reduce_mean(x, {0}).to_vector() == Floats{-0.5f, 2.5f, 3.5f});
  CHECK(reduce_prod(x, {1}).to_vector() == Floats{15, 0});
  CHECK(reduce_max(x, {0}).to_vector() == Floats{1, 5, 4});
  CHECK(reduce_min(x, {1}, true).to_vector() == Floats{1, -2});
  check_close(reduce_variance(x, {1}), {8.0 / 3, 56.0 / 9});
  check_close(reduce_std(x, {1}), {std::sqrt(8.0 / 3), std::sqrt(56.0 / 9)});
  check_close(reduce_logsumexp(x * 100, {1}), {500, 400});
  check_close(reduce_logsumexp(Tensor{0.0f, 0.0f}), {std::log(2.0)});
  CHECK(reduce_max(Tensor{1.0f, std::nanf(""), 2.0f}).item<float>() !=
        reduce_max(Tensor{1.0f, std::nanf(""), 2.0f}).item<float>());
}

TEST_CASE("integers are reduced exactly, their mean cut towards zero", "[ops][reduce]") {
  const Tensor x{7, -4, -8};
  CHECK(reduce_sum(x).item<int>() == -5);
  CHECK(reduce_sum(x).dtype() == DType::Int32);
  CHECK(reduce_mean(x).item<int>() == -1);
  CHECK(reduce_max(x).item<int>() == 7);
  CHECK(reduce_prod(x).item<int>() == 224);
  CHECK(reduce_sum(Tensor{int64_t{1} << 60, int64_t{1}}).data<int64_t>()[0] ==
        (int64_t{1} << 60) + 1);
  CHECK(reduce_max(Tensor{uint8_t(3), uint8_t(200)}).item<int>() == 200);
}

TEST_CASE("any and all take bool tensors", "[ops][reduce]") {
  const Tensor x({2, 2}, std::span<const bool>(std::array{true, false, true, true}));
  CHECK(reduce_any(x, {1}).to_vector() == Floats{1, 1});
  CHECK(reduce_all(x, {1}).to_vector() == Floats{0, 1});
  CHECK(reduce_all(x).dtype() == DType::Bool);
  CHECK_FALSE(reduce_any(zeros({0}, DType::Bool)).item<bool>());
  CHECK(reduce_all(zeros({0}, DType::Bool)).item<bool>());
  CHECK_THROWS_AS(reduce_any(Tensor(1)), InvalidArgumentError);
  CHECK_THROWS_AS(reduce_sum(x), InvalidArgumentError);
}

TEST_CASE("empty tensors reduce to the neutral element", "[ops][reduce]") {
  const Tensor x = zeros({0, 3});
  CHECK(reduce_sum(x, {0}).to_vector() == Floats{0, 0, 0});
  CHECK(reduce_prod(x, {0}).to_vector() == Floats{1, 1, 1});
  CHECK(reduce_max(x).item<float>() == -std::numeric_limits<float>::infinity());
  CHECK(reduce_sum(x, {1}).shape() == Shape{0});
  CHECK(std::isnan(reduce_mean(x).item<float>()));
}

TEST_CASE("16-bit floats add up in float32", "[ops][reduce]") {
  const Tensor x = fill({4096}, 1, DType::BFloat16);  // bfloat16 alone stops counting at 256
  CHECK(reduce_sum(x).item<float>() == 4096);
  CHECK(reduce_sum(x).dtype() == DType::BFloat16);
}

TEST_CASE("axes that do not exist or come twice are refused", "[ops][reduce]") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH(reduce_sum(x, {2}), "axis 2 does not exist in shape [2, 3]");
  CHECK_THROWS_WITH(reduce_sum(x, {0, -2}), "reduce_sum: axis -2 comes twice for shape [2, 3]");
}

TEST_CASE("reductions have first and second derivatives", "[ops][reduce]") {
  const Tensor x({2, 2, 3}, Floats{.1f, .9f, -.4f, .6f, -.7f, .3f, 1.2f, -1, .5f, .8f, -.2f, 1.5f});
  using Reduce = Tensor (*)(const Tensor&, const std::vector<int>&, bool);
  for (Reduce fn :
       {Reduce(reduce_sum), Reduce(reduce_mean), Reduce(reduce_prod), Reduce(reduce_max),
        Reduce(reduce_min), Reduce(reduce_logsumexp), Reduce(reduce_variance), Reduce(reduce_std)})
    for (const std::vector<int>& axes : {std::vector<int>{}, {1}, {0, 2}})
      for (bool keepdims : {false, true})
        check_gradient([&](auto& in) { return fn(in[0], axes, keepdims); }, {x}, {.second = true});
}

TEST_CASE("equal extremes share the gradient evenly", "[ops][reduce]") {
  const Tensor x{3.0f, 1.0f, 3.0f};
  WatchingTape tape({x});
  CHECK(tape.gradient(reduce_max(x), x).to_vector() == Floats{0.5f, 0, 0.5f});
}

TEST_CASE("the gradient of a product knows zeros", "[ops][reduce]") {
  const Tensor x({3, 3}, Floats{2, 0, 3, 0, 4, 0, 1, 2, 3});
  WatchingTape tape({x});
  const Tensor dx = tape.gradient(reduce_prod(x, {1}), x);
  CHECK(dx.to_vector() == Floats{0, 6, 0, 0, 0, 0, 6, 3, 2});
}
