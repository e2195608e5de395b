#include <distribute/data/detail/prefetch.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/support/catch.hpp>

using namespace distribute;
using namespace distribute::data;

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
