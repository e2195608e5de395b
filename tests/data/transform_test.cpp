#include <distribute/data/node.hpp>

#include <distribute/data/distribute_options.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

#include <latch>

using namespace distribute;
using namespace distribute::data;

TEST_CASE("map applies a function, in order, with any number of threads", "[data][transform]") {
  const Numbers expected = scalars_of(Dataset::range(100).map(squared));
  CHECK(expected[9] == 81);
  for (int64_t threads : {int64_t{1}, int64_t{2}, int64_t{4}, kAutotune}) {
    const auto parallel = Dataset::range(100).map(squared, {.num_parallel_calls = threads});
    CHECK(scalars_of(parallel) == expected);
    CHECK(scalars_of(parallel.shuffle(20, {.seed = 3}).batch(7).prefetch()) ==
          scalars_of(Dataset::range(100).map(squared).shuffle(20, {.seed = 3}).batch(7)));
  }
  CHECK_THROWS_AS(Dataset::range(1).map(squared, {.num_parallel_calls = 0}), InvalidArgumentError);
}

TEST_CASE("an error of a map comes at its element and the next call goes on", "[data][transform]") {
  const auto odd_only = [](const Batch& b) {
    if (b.x.item<int64_t>() % 2 == 0) throw DataLossError("even");
    return b;
  };
  for (int64_t threads : {1, 3}) {
    Iterator it = Dataset::range(4).map(odd_only, {.num_parallel_calls = threads}).iterator();
    CHECK_THROWS_AS(it.next(), DataLossError);
    CHECK(it.next().x.item<int64_t>() == 1);
    CHECK_THROWS_AS(it.next(), DataLossError);
    CHECK(it.next().x.item<int64_t>() == 3);
    CHECK_THROWS_AS(it.next(), OutOfRangeError);
  }
}

TEST_CASE("an iterator that is dropped half-way stops its threads", "[data][transform]") {
  for (int i = 0; i < 20; ++i) {
    Iterator it =
        Dataset::range(1000).map(squared, {.num_parallel_calls = 4}).prefetch(3).iterator();
    for (int j = 0; j < i; ++j) it.next();
  }
}

TEST_CASE("the spec of a map is found from the first element", "[data][transform]") {
  const auto scaled = [](const Batch& b) { return Batch{zeros({b.x.shape()[0], 3}), b.x}; };
  CHECK(to_string(Dataset::range(5).batch(2).map(scaled).element_spec()) ==
        "([-1, 3] float32, [-1] int64)");
  CHECK(to_string(Dataset::range(5).batch(2, true).map(scaled).element_spec()) ==
        "([2, 3] float32, [2] int64)");
  CHECK_THROWS_AS(Dataset::range(0).map(squared).element_spec(), FailedPreconditionError);
  const ElementSpec known = {{{-1}, DType::Int32}};
  CHECK(Dataset::range(0).map(squared, {.output_spec = known}).element_spec() == known);
}

TEST_CASE("skipped elements are not mapped", "[data][transform]") {
  std::atomic<int> calls{0};
  const auto counted = Dataset::range(10).map([&](const Batch& b) {
    ++calls;
    return b;
  });
  CHECK(scalars_of(counted.shard(5, 1)) == Numbers{1, 6});
  CHECK(calls == 2);
}

TEST_CASE("filter keeps what the predicate wants", "[data][transform]") {
  const auto even = [](const Batch& b) { return b.x.item<int64_t>() % 2 == 0; };
  CHECK(scalars_of(Dataset::range(7).filter(even)) == Numbers{0, 2, 4, 6});
  CHECK(scalars_of(Dataset::range(7).filter(even).skip(1).take(2)) == Numbers{2, 4});
}

TEST_CASE("skipped batches call no function", "[data][transform]") {
  std::atomic<int> calls = 0;
  const Dataset counted = Dataset::range(20).map(
      [&](const Batch& b) {
        ++calls;
        return b;
      },
      {.output_spec = ElementSpec{{{}, DType::Int64}}});
  CHECK(elements_of(counted.batch(4).skip(2).take(1)) == std::vector<Numbers>{{8, 9, 10, 11}});
  CHECK(calls == 4);
  CHECK(elements_of(counted.batch(6).skip(3)) == std::vector<Numbers>{{18, 19}});
  CHECK(elements_of(counted.batch(6, true).skip(3)).empty());
  CHECK(elements_of(counted.batch(6).skip(4)).empty());
}

TEST_CASE("without an order a map gives what is ready, and its positions what is left",
          "[data][transform]") {
  // Element 0 is made when three others have been taken.
  const auto taken = std::make_shared<std::latch>(3);
  const auto wait_for_others = [taken](const Batch& b) {
    if (b.x.item<int64_t>() == 0) taken->wait();
    return squared(b);
  };
  const ElementSpec scalar = {{{}, DType::Int64}};
  MapOptions options{.num_parallel_calls = 2, .output_spec = scalar};
  Options free;
  free.deterministic = false;
  const bool by_options = GENERATE(false, true);
  if (!by_options) options.deterministic = false;
  Dataset mixed = Dataset::range(8).map(wait_for_others, options);
  if (by_options) mixed = mixed.prefetch(0).with_options(free);
  Iterator it = mixed.iterator();
  Numbers got;
  for (int i = 0; i < 3; ++i) got.push_back(it.next().x.item<int64_t>());
  CHECK(got == Numbers{1, 4, 9});
  const Tensor position = it.state();
  for (int i = 0; i < 3; ++i) taken->count_down();
  const auto rest_of = [](Iterator& from) {
    Numbers rest;
    while (const auto element = from.get_next_as_optional())
      rest.push_back(element->x.item<int64_t>());
    std::sort(rest.begin(), rest.end());
    return rest;
  };
  CHECK(rest_of(it) == Numbers{0, 16, 25, 36, 49});
  Iterator later = mixed.iterator();
  later.restore(position);
  CHECK(rest_of(later) == Numbers{0, 16, 25, 36, 49});
  CHECK(mixed.options().deterministic == (by_options ? std::optional(false) : std::nullopt));
}

TEST_CASE("a map's own option for the order counts more than the dataset's", "[data][transform]") {
  Options free;
  free.deterministic = false;
  const Dataset ordered = Dataset::range(50)
                              .map(squared, {.num_parallel_calls = 3, .deterministic = true})
                              .with_options(free);
  CHECK(scalars_of(ordered) == scalars_of(Dataset::range(50).map(squared)));
  CHECK_THROWS_SAYING(Dataset::range(2).map(squared, {.deterministic = false}),
                      InvalidArgumentError, "needs num_parallel_calls");
}
