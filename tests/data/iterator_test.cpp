#include <distribute/data/detail/rebatch.hpp>
#include <distribute/data/iterator.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/support/catch.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

Batch plus_one(const Batch& b) { return Batch{Tensor(b.x.item<int64_t>() + 1)}; }

std::vector<Numbers> rest_of(Iterator& it, int64_t limit) {
  std::vector<Numbers> result;
  while (int64_t(result.size()) < limit) {
    const auto element = it.get_next_as_optional();
    if (!element) break;
    result.push_back(numbers_of(element->x));
  }
  return result;
}

/// Saves at every position of the second pass; a pipeline made afresh goes on from each.
template <typename Make>
void check_every_position(Make make, int64_t limit = 40) {
  const Dataset dataset = make();
  elements_of(dataset.take(3));
  dataset.iterator();
  Iterator it = dataset.iterator();
  std::vector<Tensor> states = {it.state()};
  std::vector<Numbers> all;
  while (int64_t(all.size()) < limit) {
    const auto element = it.get_next_as_optional();
    if (!element) break;
    all.push_back(numbers_of(element->x));
    states.push_back(it.state());
  }
  states.push_back(it.state());
  REQUIRE(all.size() > 1);
  for (size_t i = 0; i < states.size(); ++i) {
    const size_t given = std::min(i, all.size());
    Iterator other = make().iterator();
    if (i % 2) other.get_next_as_optional();
    other.restore(states[i]);
    CHECK(numbers_of(other.state()) == numbers_of(states[i]));
    const auto rest = rest_of(other, int64_t(all.size() - given));
    CHECK(rest == std::vector<Numbers>(all.begin() + int64_t(given), all.end()));
  }
}

Dataset mapped(int64_t count) { return Dataset::range(count).map(plus_one); }

}  // namespace

TEST_CASE("positions in pipelines over rows are exact", "[data][iterator]") {
  check_every_position([] { return Dataset::range(9); });
  check_every_position([] { return Dataset::range(23).shuffle(7, {.seed = 1}).batch(4); });
  check_every_position([] { return Dataset::range(23).shuffle(99).repeat(3).batch(4); });
  check_every_position([] { return Dataset::range(11).shuffle(4).repeat().batch(3); });
  check_every_position([] { return Dataset::range(40).shard(3, 1).skip(2).take(9); });
  check_every_position([] { return Dataset::range(9).shuffle(9).cache().repeat(2); });
}

TEST_CASE("positions in pipelines over elements are exact", "[data][iterator]") {
  check_every_position([] { return mapped(12).shuffle(5, {.seed = 1}).repeat(2).batch(5); });
  check_every_position([] { return mapped(20).skip(3).shard(2, 1).take(6); });
  check_every_position([] {
    return mapped(20).filter([](const Batch& b) { return b.x.item<int64_t>() % 3 != 0; });
  });
  check_every_position([] { return mapped(7).cache().repeat(3); });
  check_every_position([] { return Dataset::zip({mapped(8), Dataset::range(5).repeat()}); });
  check_every_position([] { return mapped(4).concatenate(Dataset::range(5)).repeat(2); });
  check_every_position([] { return mapped(6).enumerate(3); });
}

TEST_CASE("positions behind threads are those of the elements handed out", "[data][iterator]") {
  for (int64_t threads : {1, 2, 4}) {
    check_every_position([=] {
      return Dataset::range(17).shuffle(6).map(plus_one, {.num_parallel_calls = threads});
    });
    check_every_position([=] {
      return Dataset::range(17)
          .shuffle(17)
          .map(plus_one, {.num_parallel_calls = threads})
          .batch(3)
          .prefetch(4)
          .repeat(2);
    });
  }
}

TEST_CASE("positions in cut-up batches are exact", "[data][iterator]") {
  check_every_position([] { return Dataset::range(17).batch(5).unbatch(); });
  check_every_position([] { return Dataset::range(17).batch(5).rebatch({2, 0, 4}); });
  check_every_position(
      [] { return Dataset(legacy_rebatch_node(Dataset::range(17).batch(5).node(), 3)); });
}

TEST_CASE("positions in interleaved parts, files and generators are exact", "[data][iterator]") {
  check_every_position([] {
    return mapped(6).interleave(
        [](const Batch& b) { return Dataset::range(b.x.item<int64_t>()).shuffle(3); },
        {.cycle_length = 3, .block_length = 2});
  });
  check_every_position([] {
    return Dataset::from_files({"1", "2", "3"}, [](const std::string& path) {
      return Dataset::range(std::stoi(path) + 2).shuffle(9);
    });
  });
  check_every_position([] {
    const auto count_to_five = [] {
      return [next = int64_t{0}]() mutable -> std::optional<Batch> {
        if (next == 5) return std::nullopt;
        return Batch{Tensor(next++)};
      };
    };
    return Dataset::from_generator(count_to_five, {{{}, DType::Int64}}).repeat(2).batch(3);
  });
}

TEST_CASE("the passes after a restored one go on with its orders", "[data][iterator]") {
  const auto make = [] { return Dataset::range(20).shuffle(20, {.seed = 8}); };
  const Dataset before = make();
  scalars_of(before);
  Iterator second = before.iterator();
  second.next();
  const Tensor state = second.state();
  const Numbers third = scalars_of(before);
  const Dataset after = make();
  Iterator it = after.iterator();
  it.restore(state);
  CHECK(scalars_of(after) == third);
}

TEST_CASE("a position that does not fit is refused and nothing changes", "[data][iterator]") {
  Iterator it = Dataset::range(9).batch(2).iterator();
  it.next();
  const Tensor good = it.state();
  CHECK_THROWS_AS(it.restore(Dataset::range(9).batch(3).iterator().state()), InvalidArgumentError);
  CHECK_THROWS_AS(it.restore(Dataset::range(8).batch(2).iterator().state()), InvalidArgumentError);
  CHECK_THROWS_AS(it.restore(good.rows(0, 2)), InvalidArgumentError);
  CHECK_THROWS_AS(it.restore(good.rows(0, 0)), InvalidArgumentError);
  CHECK_THROWS_AS(it.restore(Tensor{1.0f}), InvalidArgumentError);
  Numbers damaged(good.data<int64_t>().begin(), good.data<int64_t>().end());
  damaged.back() = 10;
  CHECK_THROWS_AS(it.restore(Tensor(good.shape(), damaged)), InvalidArgumentError);
  CHECK(numbers_of(it.next().x) == Numbers{2, 3});
}

TEST_CASE("a position of another dataset says what has changed, and the cure", "[data][iterator]") {
  const auto make = [](int64_t batch, int64_t buffer, uint64_t seed) {
    const Dataset all = Dataset::range(90);
    return (buffer ? all.shuffle(buffer, {.seed = seed}) : all).batch(batch);
  };
  const auto said = [&](const Dataset& then, const Dataset& now) {
    Iterator before = then.iterator(), after = now.iterator();
    before.next();
    try {
      after.restore(before.state());
    } catch (const InvalidArgumentError& error) {
      return std::string(error.what());
    }
    return std::string("restored");
  };
  CHECK(said(make(5, 9, 1), make(5, 9, 1)) == "restored");
  CHECK(said(make(5, 9, 1), make(6, 9, 1)) ==
        "the saved position belongs to another dataset: the batch size is 6, it was 5; make the "
        "dataset as it was, or restore without the iterator, and training goes on with a new pass "
        "over the data");
  CHECK_THAT(said(make(5, 9, 1), make(5, 9, 2)), Contains(": the shuffle's seed is 2, it was 1;"));
  CHECK_THAT(said(make(5, 9, 1), make(4, 0, 1)),
             Contains("the batch size is 4, it was 5, the shuffle's buffer is none, it was 9"));
  CHECK_THAT(said(make(5, 9, 1), make(5, 9, 1).take(3)),
             Contains("its elements or transformations are others"));
}

TEST_CASE("a position without the facts of its pipeline is restored", "[data][iterator]") {
  const Dataset dataset = Dataset::range(9).batch(2);
  Iterator it = dataset.iterator();
  it.next();
  const Tensor state = it.state();
  constexpr int64_t kFacts = 7;  // as of earlier versions of the library
  Iterator other = dataset.iterator();
  other.restore(state.rows(0, state.shape()[0] - kFacts));
  CHECK(numbers_of(other.next().x) == Numbers{2, 3});
  CHECK_THROWS_AS(
      Dataset::range(9).batch(3).iterator().restore(state.rows(0, state.shape()[0] - kFacts)),
      InvalidArgumentError);
}

TEST_CASE("a moved iterator goes on, an overwritten one lets its threads go", "[data][iterator]") {
  Iterator a = mapped(9).prefetch(2).iterator();
  a.next();
  Iterator b = std::move(a);
  CHECK(b.next().x.item<int64_t>() == 2);
  b = mapped(3).prefetch(2).iterator();
  CHECK(b.next().x.item<int64_t>() == 1);
}
