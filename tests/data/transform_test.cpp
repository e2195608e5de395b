#include <distribute/data/transform.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/support/catch.hpp>

#include <atomic>

using namespace distribute;
using namespace distribute::data;

static Batch squared(const Batch& b) {
  const int64_t value = b.x.item<int64_t>();
  return Batch{Tensor(value * value)};
}

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

TEST_CASE("interleave reads parts in turn as TensorFlow's example", "[data][interleave]") {
  const auto part = [](const Batch& b) {
    const int64_t value = b.x.item<int64_t>();
    return Dataset::range(value, value + 1).repeat(6);
  };
  const auto mixed = Dataset::range(1, 6).interleave(part, {.cycle_length = 2, .block_length = 4});
  CHECK(scalars_of(mixed) == Numbers{1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3,
                                     3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5});
  CHECK(to_string(mixed.element_spec()) == "([] int64)");
  CHECK_THROWS_AS(Dataset::range(2).interleave(part, {.cycle_length = 0}), InvalidArgumentError);
}

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

TEST_CASE("prefetch hands elements and errors on in order", "[data][prefetch]") {
  const auto faulty = [](const Batch& b) {
    if (b.x.item<int64_t>() == 2) throw AbortedError("two");
    return b;
  };
  Iterator it = Dataset::range(4).map(faulty).prefetch(8).iterator();
  CHECK(it.next().x.item<int64_t>() == 0);
  CHECK(it.next().x.item<int64_t>() == 1);
  CHECK_THROWS_AS(it.next(), AbortedError);
  CHECK(it.next().x.item<int64_t>() == 3);
  CHECK_FALSE(it.get_next_as_optional());
  CHECK_FALSE(it.get_next_as_optional());
  CHECK(scalars_of(Dataset::range(50).prefetch(0)) == count_up(0, 50));
  CHECK(scalars_of(Dataset::range(50).prefetch(1)) == count_up(0, 50));
}

TEST_CASE("generators start anew with every pass and are held to their spec", "[data][sources]") {
  const auto three = [] {
    return [next = int64_t{0}]() mutable -> std::optional<Batch> {
      if (next == 3) return std::nullopt;
      return Batch{Tensor(next++)};
    };
  };
  const auto dataset = Dataset::from_generator(three, {{{}, DType::Int64}});
  CHECK(scalars_of(dataset) == Numbers{0, 1, 2});
  CHECK(scalars_of(dataset.repeat(2)) == Numbers{0, 1, 2, 0, 1, 2});
  Iterator wrong = Dataset::from_generator(three, {{{2}, DType::Int64}}).iterator();
  CHECK_THROWS_WITH(wrong.next(),
                    "from_generator: expected an element ([2] int64), got ([] int64)");
}

TEST_CASE("file sources read file after file", "[data][sources]") {
  const auto reader = [](const std::string& path) {
    const int64_t first = std::stoi(path) * 10;
    return Dataset::range(first, first + 2);
  };
  const auto dataset = Dataset::from_files({"1", "2", "3"}, reader);
  CHECK(scalars_of(dataset) == Numbers{10, 11, 20, 21, 30, 31});
  CHECK(dataset.node()->files().size() == 3);
  CHECK_THROWS_AS(Dataset::from_files({}, reader), InvalidArgumentError);
}
