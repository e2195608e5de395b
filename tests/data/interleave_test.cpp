#include <distribute/data/interleave.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/support/catch.hpp>

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
