#include <distribute/data/dataset.hpp>
#include <distribute/data/grouping.hpp>
#include <distribute/ops/math.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

#include <tuple>
#include <utility>

using namespace distribute;
using data::Batch;
using data::Dataset;

namespace {

const Tensor kX{1.0f, 2.0f, 3.0f}, kY{10.0f, 20.0f, 30.0f}, kWeights{1.0f, 0.0f, 2.0f};

std::vector<std::vector<float>> elements(const Dataset& dataset) {
  std::vector<std::vector<float>> all;
  for (const Batch& element : dataset) {
    all.emplace_back();
    for (const Tensor& part : element.components()) all.back().push_back(part.item<float>());
  }
  return all;
}

using Rows = std::vector<std::vector<float>>;

}  // namespace

TEST_CASE("functions of datasets may take the tensors of an element", "[data][map]") {
  const auto one = Dataset::from_tensor_slices(kX);
  const auto two = Dataset::from_tensor_slices({kX, kY});
  const auto three = Dataset::from_tensor_slices({kX, kY, kWeights});
  CHECK(elements(one.map([](const Tensor& x) { return 2 * x; })) == Rows{{2}, {4}, {6}});
  CHECK(elements(two.map([](const Tensor& x, const Tensor& y) { return x + y; })) ==
        Rows{{11}, {22}, {33}});
  CHECK(elements(two.map([](Tensor x, Tensor y) { return std::pair(y, x); })) ==
        Rows{{10, 1}, {20, 2}, {30, 3}});
  CHECK(elements(three.map([](const Tensor& x, const Tensor& y, const Tensor& w) {
          return std::tuple(x, w * y, w);
        })) == Rows{{1, 10, 1}, {2, 0, 0}, {3, 60, 2}});
  CHECK(elements(two.map([](const Batch& e) { return Batch{.x = e.y}; })) ==
        Rows{{10}, {20}, {30}});
  // A function that takes anything gets the Batch.
  CHECK(elements(two.map([](const auto& e) { return e.x; })) == Rows{{1}, {2}, {3}});
  check_throws<InvalidArgumentError>([&] { elements(two.map([](const Tensor& x) { return x; })); },
                                     "2");
}

TEST_CASE("predicates of datasets may take tensors and give one", "[data][filter]") {
  const auto one = Dataset::from_tensor_slices(kX);
  const auto two = Dataset::from_tensor_slices({kX, kY});
  CHECK(elements(one.filter([](const Tensor& x) { return x > 1; })) == Rows{{2}, {3}});
  CHECK(elements(one.filter([](const Tensor& x) { return x.item<float>() < 3; })) ==
        Rows{{1}, {2}});
  CHECK(elements(two.filter([](const Tensor& x, const Tensor& y) { return x + y > 15; })) ==
        Rows{{2, 20}, {3, 30}});
  CHECK(elements(two.filter([](const Batch& e) { return e.y < 15; })) == Rows{{1, 10}});
  CHECK(elements(two.filter([seen = 0](const Batch&) mutable { return ++seen % 2 == 1; })) ==
        Rows{{1, 10}, {3, 30}});
  check_throws<InvalidArgumentError>(
      [&] { elements(one.filter([](const Tensor& x) { return x; })); },
      "the predicate must give a bool, or one as a scalar; it gave float32 []");
}
