#include <distribute/data/rebatch.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/support/catch.hpp>

using namespace distribute;
using namespace distribute::data;

using Batches = std::vector<Numbers>;

TEST_CASE("unbatch gives the rows one by one", "[data][rebatch]") {
  CHECK(scalars_of(Dataset::range(7).batch(3).unbatch()) == count_up(0, 7));
  const auto rows = Dataset::from_tensor_slices(zeros({4, 2, 3})).batch(3).unbatch();
  CHECK(rows.iterator().next().x.shape() == Shape{2, 3});
  CHECK_THROWS_AS(elements_of(Dataset::range(3).unbatch()), InvalidArgumentError);
}

TEST_CASE("rebatch cuts with its sizes in turn, across the old borders", "[data][rebatch]") {
  const auto twelve = Dataset::range(12).batch(8);
  CHECK(elements_of(twelve.rebatch({4})) == Batches{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}});
  CHECK(elements_of(twelve.rebatch({2, 5})) ==
        Batches{{0, 1}, {2, 3, 4, 5, 6}, {7, 8}, {9, 10, 11}});
  CHECK(elements_of(twelve.rebatch({2, 5}, true)) == Batches{{0, 1}, {2, 3, 4, 5, 6}, {7, 8}});
  CHECK(elements_of(Dataset::range(2).batch(2).rebatch({1, 1, 0, 0})) == Batches{{0}, {1}});
  CHECK(elements_of(Dataset::range(4).batch(2).rebatch({1, 1, 0})) ==
        Batches{{0}, {1}, {}, {2}, {3}});
}

TEST_CASE("pieces of one batch share its memory", "[data][rebatch]") {
  const Tensor x = zeros({8, 2});
  Iterator it = Dataset::from_tensor_slices(x).batch(8).rebatch({4}).iterator();
  CHECK(it.next().x.data<float>().data() == x.data<float>().data());
  CHECK(it.next().x.data<float>().data() == x.data<float>().data() + 8);
}

TEST_CASE("rebatch refuses sizes that never end", "[data][rebatch]") {
  CHECK_THROWS_AS(Dataset::range(3).batch(2).rebatch({}), InvalidArgumentError);
  CHECK_THROWS_AS(Dataset::range(3).batch(2).rebatch({0, 0}), InvalidArgumentError);
  CHECK_THROWS_AS(Dataset::range(3).batch(2).rebatch({2, -1}), InvalidArgumentError);
}

TEST_CASE("legacy rebatch cuts each batch into equal pieces, the last ones short or empty",
          "[data][rebatch]") {
  const auto cut = [](int64_t count, int64_t batch, int64_t pieces) {
    return elements_of(
        Dataset(legacy_rebatch_node(Dataset::range(count).batch(batch).node(), pieces)));
  };
  CHECK(cut(12, 8, 2) == Batches{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}, {10, 11}});
  CHECK(cut(9, 2, 2).back().empty());
  CHECK(cut(4, 4, 5) == Batches{{0}, {1}, {2}, {3}, {}});
  CHECK(cut(5, 5, 4) == Batches{{0, 1}, {2, 3}, {4}, {}});
}
