#include <distribute/data/detail/interleave.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/data/sequences/sequence_answers.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

#include <latch>

using namespace distribute;
using namespace distribute::data;

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

namespace {

Dataset repeated(const Batch& number) {
  return Dataset::from_tensors(number).repeat(number.x.item<int64_t>());
}

}  // namespace

TEST_CASE("several threads interleave in TensorFlow's order", "[data][interleave]") {
  const Dataset numbers = Dataset::range(1, 6);
  for (const int64_t threads : {1, 2, 5}) {
    const Dataset mixed = numbers.interleave(
        repeated, {.cycle_length = 3, .block_length = 2, .num_parallel_calls = threads});
    CHECK(answer_of(mixed) == tensorflow_answer("interleaved 3 2"));
    CHECK(resumes_everywhere(mixed));
    CHECK(answer_of(
              numbers.interleave(repeated, {.cycle_length = 2, .num_parallel_calls = threads})) ==
          tensorflow_answer("interleaved 2 1"));
  }
  CHECK(answer_of(Dataset::range(1, 4).flat_map([](const Batch& stop) {
          return Dataset::range(stop.x.item<int64_t>());
        })) == tensorflow_answer("flat"));
}

TEST_CASE("positions fit whatever the number of threads", "[data][interleave]") {
  const auto mixed = [](int64_t threads) {
    return Dataset::range(5).interleave(  // the first part is empty
        repeated, {.cycle_length = 3, .block_length = 2, .num_parallel_calls = threads});
  };
  const Numbers all = scalars_of(mixed(1));
  for (const auto& [from, to] : {std::pair{1, 2}, {2, 1}, {3, 2}}) {
    const Dataset first = mixed(from), second = mixed(to);
    Iterator it = first.iterator();
    for (size_t at = 0; at < all.size(); ++at) {
      Iterator again = second.iterator();
      again.restore(it.state());
      for (size_t i = at; i < all.size(); ++i) CHECK(again.next().x.item<int64_t>() == all[i]);
      CHECK_FALSE(again.get_next_as_optional());
      it.next();
    }
  }
}

TEST_CASE("parts are read at the same time", "[data][interleave]") {
  // Each part waits for the other before it gives anything.
  std::latch both(2);
  const auto part = [&](const Batch& number) {
    return Dataset::from_tensors(number).map(
        [&](const Batch& value) {
          both.arrive_and_wait();
          return value;
        },
        {.output_spec = ElementSpec{{{}, DType::Int64}}});
  };
  const Dataset mixed =
      Dataset::range(2).interleave(part, {.cycle_length = 2, .num_parallel_calls = 2});
  CHECK(scalars_of(mixed) == Numbers{0, 1});
}

TEST_CASE("without an order a slow part does not hold up the others", "[data][interleave]") {
  // Part 0 gives its element when all of part 1 has been taken.
  std::latch taken(3);
  const auto part = [&](const Batch& number) {
    const bool slow = number.x.item<int64_t>() == 0;
    return Dataset::from_tensors(number)
        .repeat(slow ? 1 : 3)
        .map(
            [&, slow](const Batch& value) {
              if (slow) taken.wait();
              return value;
            },
            {.output_spec = ElementSpec{{{}, DType::Int64}}});
  };
  const Dataset mixed = Dataset::range(2).interleave(
      part, {.cycle_length = 2, .num_parallel_calls = 2, .deterministic = false});
  Numbers got;
  for (Iterator it = mixed.iterator(); const auto element = it.get_next_as_optional();) {
    got.push_back(element->x.item<int64_t>());
    if (got.size() <= 3) taken.count_down();
  }
  CHECK(got == Numbers{1, 1, 1, 0});
}

TEST_CASE("an error of a part comes at its turn, and the others go on", "[data][interleave]") {
  for (const int64_t threads : {1, 2}) {
    const auto part = [](const Batch& number) {
      if (number.x.item<int64_t>() == 1) throw AbortedError("part 1 cannot be opened");
      return Dataset::from_tensors(number);
    };
    const Dataset mixed =
        Dataset::range(3).interleave(part, {.cycle_length = 2, .num_parallel_calls = threads});
    Iterator it = mixed.iterator();
    CHECK(it.next().x.item<int64_t>() == 0);
    CHECK_THROWS_AS(it.next(), AbortedError);
    CHECK(it.next().x.item<int64_t>() == 2);
    CHECK_FALSE(it.get_next_as_optional());
  }
  const Dataset range = Dataset::range(2);
  CHECK_THROWS_AS(range.interleave(repeated, {.num_parallel_calls = 0}), InvalidArgumentError);
  CHECK_THROWS_SAYING(range.interleave(repeated, {.deterministic = false}), InvalidArgumentError,
                      "needs num_parallel_calls");
}
