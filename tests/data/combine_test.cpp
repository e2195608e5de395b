#include <distribute/data/detail/combine.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/support/catch.hpp>

using namespace distribute;
using namespace distribute::data;

TEST_CASE("zip puts components side by side and ends with the shortest", "[data][combine]") {
  const auto zipped = Dataset::zip({Dataset::range(3), Dataset::range(10, 20)});
  Numbers sums;
  for (const auto& [a, b] : zipped) sums.push_back(a.item<int64_t>() + b.item<int64_t>());
  CHECK(sums == Numbers{10, 12, 14});
  CHECK_THROWS_AS(Dataset::zip({}), InvalidArgumentError);
}

TEST_CASE("concatenate gives one dataset after the other", "[data][combine]") {
  const auto both = Dataset::range(2).concatenate(Dataset::range(5, 8));
  CHECK(scalars_of(both) == Numbers{0, 1, 5, 6, 7});
  CHECK(scalars_of(both.skip(3)) == Numbers{6, 7});
  CHECK_THROWS_AS(Dataset::range(2).concatenate(Dataset::from_tensor_slices(zeros({2}))),
                  InvalidArgumentError);
}

TEST_CASE("cache calls the input once and keeps its order", "[data][combine]") {
  int calls = 0;
  const auto counted = Dataset::range(5).map([&](const Batch& b) {
    ++calls;
    return b;
  });
  const auto cached = counted.shuffle(5, {.seed = 9}).cache();
  const Numbers first = scalars_of(cached);
  CHECK(scalars_of(cached) == first);
  CHECK(calls == 5);
  CHECK(scalars_of(cached.skip(2)) == Numbers(first.begin() + 2, first.end()));
  const auto rows = Dataset::range(30).shuffle(30, {.seed = 9}).cache();
  CHECK(rows.node()->table() != nullptr);
  CHECK(scalars_of(rows) == scalars_of(rows));
}

TEST_CASE("a pass that stops early leaves no cache behind", "[data][combine]") {
  const auto cached = Dataset::range(5).map(squared).cache();
  cached.iterator().next();
  CHECK(scalars_of(cached) == Numbers{0, 1, 4, 9, 16});
}
