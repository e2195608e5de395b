#include <distribute/data/detail/rebatch.hpp>

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
}

TEST_CASE("rebatch gives a batch of no rows for a size of 0, at the end too", "[data][rebatch]") {
  const auto cut = [](int64_t count, std::vector<int64_t> sizes, bool drop = false) {
    return elements_of(Dataset::range(count).batch(2).rebatch(std::move(sizes), drop));
  };
  CHECK(cut(2, {1, 1, 0, 0}) == Batches{{0}, {1}, {}, {}});
  CHECK(cut(4, {1, 1, 0}) == Batches{{0}, {1}, {}, {2}, {3}, {}});
  CHECK(cut(5, {1, 1, 0}) == Batches{{0}, {1}, {}, {2}, {3}, {}, {4}});
  CHECK(cut(0, {0, 0, 1, 1}) == Batches{{}, {}});
  CHECK(cut(4, {0, 0, 1, 1}) == Batches{{}, {}, {0}, {1}, {}, {}, {2}, {3}, {}, {}});
  CHECK(cut(3, {0, 2}, true) == Batches{{}, {0, 1}, {}});
  CHECK(cut(5, {2, 0, 2}) == Batches{{0, 1}, {}, {2, 3}, {4}});
  Iterator it = Dataset::range(2).batch(2).rebatch({2, 0, 0}).iterator();
  it.next(), it.next();
  Iterator other = Dataset::range(2).batch(2).rebatch({2, 0, 0}).iterator();
  other.restore(it.state());
  CHECK(other.next().x.shape() == Shape{0});
  CHECK_FALSE(other.get_next_as_optional());
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

TEST_CASE("legacy rebatch cuts components of different sizes each by itself", "[data][rebatch]") {
  const auto both = Dataset::zip({Dataset::range(6).batch(4), Dataset::range(6).batch(3)});
  Iterator it = Dataset(legacy_rebatch_node(both.node(), 2)).iterator();
  std::vector<Batches> got;
  while (const auto piece = it.get_next_as_optional())
    got.push_back({numbers_of(piece->x), numbers_of(piece->y)});
  CHECK(got == std::vector<Batches>{{{0, 1}, {0, 1}}, {{2, 3}, {2}}, {{4}, {3, 4}}, {{5}, {5}}});
}

TEST_CASE("a position between the pieces of a batch is restored", "[data][rebatch]") {
  const Dataset cut(legacy_rebatch_node(Dataset::range(11).batch(4).node(), 3));
  const auto all = elements_of(cut);
  Iterator it = cut.iterator();
  for (size_t i = 0; i < all.size(); ++i) {
    Iterator other = cut.iterator();
    other.restore(it.state());
    for (size_t k = i; k < all.size(); ++k) CHECK(numbers_of(other.next().x) == all[k]);
    CHECK_FALSE(other.get_next_as_optional());
    it.next();
  }
}

TEST_CASE("sizes that are known stay known where batches divide evenly", "[data][rebatch]") {
  const auto first_axis = [](NodePtr node) { return node->element_spec().at(0).shape.at(0); };
  const auto four = Dataset::range(12).batch(4, true).node();
  CHECK(first_axis(legacy_rebatch_node(four, 2)) == 2);
  CHECK(first_axis(legacy_rebatch_node(four, 3)) == -1);
  CHECK(first_axis(rebatch_node(four, {2, 2})) == 2);
  CHECK(first_axis(rebatch_node(four, {3})) == -1);
  CHECK(first_axis(rebatch_node(four, {3}, true)) == 3);
  CHECK(first_axis(legacy_rebatch_node(Dataset::range(12).batch(4).node(), 2)) == -1);
}
