#include <distribute/data/dataset.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/data/sequences/sequence_answers.hpp>
#include <tests/support/catch.hpp>

using namespace distribute;
using namespace distribute::data;

TEST_CASE("range gives scalars as Python's range does", "[data][dataset]") {
  CHECK(scalars_of(Dataset::range(4)) == Numbers{0, 1, 2, 3});
  CHECK(scalars_of(Dataset::range(2, 9, 3)) == Numbers{2, 5, 8});
  CHECK(scalars_of(Dataset::range(3, 0, -2)) == Numbers{3, 1});
  CHECK(scalars_of(Dataset::range(5, 5)).empty());
  CHECK(Dataset::range(2, 9, 3).cardinality() == 3);
  CHECK(Dataset::range(0, -9, -3).cardinality() == 3);
  CHECK(Dataset::range(5, 6, -1).cardinality() == 0);
  CHECK(Dataset::range(INT64_MIN, INT64_MAX).cardinality() == INT64_MAX);  // the most
  CHECK(Dataset::range(INT64_MAX, INT64_MIN, INT64_MIN).cardinality() == 2);
  CHECK_THROWS_AS(Dataset::range(0, 1, 0), InvalidArgumentError);
  CHECK(scalars_of(Dataset::range(9).enumerate(-2).take(3)) == Numbers{-2, -1, 0});
}

TEST_CASE("from_tensor_slices gives one element per row", "[data][dataset]") {
  const Tensor x(Shape{3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const auto dataset = Dataset::from_tensor_slices(x, Tensor{int64_t{7}, int64_t{8}, int64_t{9}});
  CHECK(to_string(dataset.element_spec()) == "([2] float32, [] int64)");
  CHECK(dataset.cardinality() == 3);
  int64_t row = 0;
  for (const auto& [features, label] : dataset) {
    CHECK(features.shape() == Shape{2});
    CHECK(features.data<float>()[1] == float(2 * row + 2));
    CHECK(label.shape() == Shape{});
    CHECK(label.item<int64_t>() == 7 + row++);
  }
  CHECK(row == 3);
}

TEST_CASE("components may stand in braces", "[data][dataset]") {
  const Tensor x({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}), y{7.0f, 8.0f, 9.0f};
  const Batch pair = Dataset::from_tensor_slices({x, y}).iterator().next();
  CHECK(pair.x.to_vector() == std::vector<float>{1, 2});
  CHECK(pair.y.item<float>() == 7);
  const Batch weighted = Dataset::from_tensor_slices({x, y, y}).iterator().next();
  CHECK(weighted.more.at(0).item<float>() == 7);
  CHECK(Dataset::from_tensor_slices({x}).cardinality() == 3);
  CHECK(Dataset::from_tensor_slices({1.0f, 2.0f}).iterator().next().x.item<float>() == 1);
  const Batch whole = Dataset::from_tensors({x, y}).iterator().next();
  CHECK(whole.x.shape() == Shape{3, 2});
  CHECK(whole.y.shape() == Shape{3});
}

TEST_CASE("from_tensor_slices refuses what has no common rows", "[data][dataset]") {
  CHECK_THROWS_AS(Dataset::from_tensor_slices(Tensor(1.0f)), InvalidArgumentError);
  CHECK_THROWS_AS(Dataset::from_tensor_slices(Tensor{1.0f, 2.0f}, Tensor{1.0f}),
                  InvalidArgumentError);
  CHECK_THROWS_AS(Dataset::from_tensor_slices(Tensor()), InvalidArgumentError);
}

TEST_CASE("elements have as many components as given", "[data][dataset]") {
  const Tensor two{1.0f, 2.0f};
  const auto dataset = Dataset::from_tensor_slices(two, two, {Tensor{5.0f, 6.0f}}).batch(2);
  const Batch batch = dataset.iterator().next();
  REQUIRE(batch.size() == 3);
  CHECK(numbers_of(batch[2]) == Numbers{5, 6});
  CHECK(Dataset::range(2).iterator().next().size() == 1);
}

TEST_CASE("batches of neighbouring rows share the memory of the tensor", "[data][dataset]") {
  const Tensor x = zeros({10, 4});
  Iterator it = Dataset::from_tensor_slices(x).batch(4).iterator();
  CHECK(it.next().x.data<float>().data() == x.data<float>().data());
  CHECK(it.next().x.data<float>().data() == x.data<float>().data() + 16);
  CHECK(it.next().x.shape() == Shape{2, 4});
}

TEST_CASE("take, skip, repeat and shard choose elements", "[data][selection]") {
  const auto five = Dataset::range(5);
  CHECK(scalars_of(five.take(2)) == Numbers{0, 1});
  CHECK(scalars_of(five.take(-1)) == count_up(0, 5));
  CHECK(scalars_of(five.take(9)).size() == 5);
  CHECK(scalars_of(five.skip(3)) == Numbers{3, 4});
  CHECK(scalars_of(five.skip(-1)).empty());
  CHECK(scalars_of(five.skip(9)).empty());
  CHECK(scalars_of(five.repeat(2)) == Numbers{0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
  CHECK(scalars_of(five.repeat(0)).empty());
  CHECK(scalars_of(five.repeat(), 7) == Numbers{0, 1, 2, 3, 4, 0, 1});
  CHECK(scalars_of(five.shard(2, 0)) == Numbers{0, 2, 4});
  CHECK(scalars_of(five.shard(2, 1)) == Numbers{1, 3});
  CHECK(scalars_of(five.take(0).repeat()).empty());
  CHECK(scalars_of(five.repeat().skip(7).take(4)) == Numbers{2, 3, 4, 0});
  CHECK(scalars_of(five.repeat(2).skip(11)).empty());
}

TEST_CASE("the same selections work on elements that are not rows", "[data][selection]") {
  const auto five = Dataset::range(5).map([](const Batch& b) { return b; });
  CHECK(five.node()->table() == nullptr);
  CHECK(scalars_of(five.take(2)) == Numbers{0, 1});
  CHECK(scalars_of(five.skip(3)) == Numbers{3, 4});
  CHECK(scalars_of(five.repeat(2).skip(3)) == Numbers{3, 4, 0, 1, 2, 3, 4});
  CHECK(scalars_of(five.shard(3, 1)) == Numbers{1, 4});
  CHECK(scalars_of(five.take(0).repeat()).empty());
  CHECK(elements_of(five.batch(3)) == std::vector<Numbers>{{0, 1, 2}, {3, 4}});
}

TEST_CASE("sizes that make no sense are refused with a message", "[data][dataset]") {
  const auto five = Dataset::range(5);
  CHECK_THROWS_AS(five.batch(0), InvalidArgumentError);
  CHECK_THROWS_AS(five.batch(-3), InvalidArgumentError);
  CHECK_THROWS_AS(five.shuffle(0), InvalidArgumentError);
  CHECK_THROWS_AS(five.shard(2, 2), InvalidArgumentError);
  CHECK_THROWS_AS(five.shard(0, 0), InvalidArgumentError);
  CHECK_THROWS_AS(five.take(-2), InvalidArgumentError);
  CHECK_THROWS_AS(five.repeat(-2), InvalidArgumentError);
  CHECK_THROWS_AS(five.prefetch(-2), InvalidArgumentError);
  CHECK_THROWS_WITH(five.shard(3, 4),
                    "shard: needs 0 <= index < num_shards, got index 4 of 3 shards");
}

TEST_CASE("batch groups elements and may drop the last short one", "[data][batching]") {
  CHECK(elements_of(Dataset::range(5).batch(2)) == std::vector<Numbers>{{0, 1}, {2, 3}, {4}});
  CHECK(elements_of(Dataset::range(5).batch(2, true)) == std::vector<Numbers>{{0, 1}, {2, 3}});
  CHECK(elements_of(Dataset::range(5).batch(2).skip(1)) == std::vector<Numbers>{{2, 3}, {4}});
  CHECK(elements_of(Dataset::range(5).batch(2).shard(2, 0)) == std::vector<Numbers>{{0, 1}, {4}});
  CHECK(elements_of(Dataset::range(5).repeat().batch(3).take(3)) ==
        std::vector<Numbers>{{0, 1, 2}, {3, 4, 0}, {1, 2, 3}});
  CHECK(Dataset::range(3).batch(9).iterator().next().x.shape() == Shape{3});
  CHECK(Dataset::range(8).batch(2).batch(3).iterator().next().x.shape() == Shape{3, 2});
}

TEST_CASE("examples of different shapes cannot be batched", "[data][batching]") {
  const auto ragged =
      Dataset::range(1, 4).map([](const Batch& b) { return Batch{zeros({b.x.item<int64_t>()})}; });
  Iterator it = ragged.batch(3).iterator();
  CHECK_THROWS_WITH(it.next(),
                    "batch: component 0 of element 1 is float32 [2], of element 0 "
                    "float32 [1]");
}

TEST_CASE("cardinality is counted, infinite or unknown", "[data][dataset]") {
  const auto ten = Dataset::range(10);
  const auto unknown = ten.filter([](const Batch&) { return true; });
  CHECK(ten.batch(4).cardinality() == 3);
  CHECK(ten.batch(4, true).cardinality() == 2);
  CHECK(ten.repeat().cardinality() == kInfiniteCardinality);
  CHECK(ten.repeat().take(7).cardinality() == 7);
  CHECK(ten.repeat(3).cardinality() == 30);
  CHECK(ten.take(0).repeat().cardinality() == 0);
  CHECK(ten.skip(4).cardinality() == 6);
  CHECK(ten.shard(3, 0).cardinality() == 4);
  CHECK(ten.shard(3, 1).cardinality() == 3);
  CHECK(unknown.cardinality() == kUnknownCardinality);
  CHECK(unknown.batch(2).cardinality() == kUnknownCardinality);
  CHECK(Dataset::zip({ten, ten.take(4)}).cardinality() == 4);
  CHECK(Dataset::zip({ten, ten.repeat()}).cardinality() == 10);
  CHECK(ten.concatenate(ten).cardinality() == 20);
  CHECK(ten.batch(3).prefetch().cache().cardinality() == 4);
}

TEST_CASE("the batch axis is unknown unless short batches are dropped", "[data][element_spec]") {
  const auto rows = Dataset::from_tensor_slices(zeros({9, 28, 28, 1}));
  CHECK(to_string(rows.batch(4).element_spec()) == "([-1, 28, 28, 1] float32)");
  CHECK(to_string(rows.batch(4, true).element_spec()) == "([4, 28, 28, 1] float32)");
  CHECK(to_string(rows.batch(4).unbatch().element_spec()) == "([28, 28, 1] float32)");
  const Batch none = empty_batch(rows.batch(4).element_spec());
  CHECK(none.x.shape() == Shape{0, 28, 28, 1});
  CHECK_THROWS_AS(empty_batch(Dataset::range(2).element_spec()), InvalidArgumentError);
}

TEST_CASE("enumerate numbers the elements, reduce folds them", "[data][dataset]") {
  const auto numbered = Dataset::range(10, 13).enumerate(5);
  CHECK(scalars_of(numbered) == Numbers{5, 6, 7});
  CHECK(numbered.iterator().next().y.item<int64_t>() == 10);
  CHECK(numbered.cardinality() == 3);
  const auto sum = Dataset::range(5).reduce(
      int64_t{100}, [](int64_t total, const Batch& b) { return total + b.x.item<int64_t>(); });
  CHECK(sum == 110);
}

TEST_CASE("a finished iterator throws OutOfRange, the optional form does not", "[data][iterator]") {
  Iterator it = Dataset::range(1).iterator();
  it.next();
  CHECK_THROWS_AS(it.next(), OutOfRangeError);
  CHECK_THROWS_AS(it.next(), OutOfRangeError);
  CHECK_FALSE(it.get_next_as_optional().has_value());
}

namespace {

struct Pair {
  Tensor value;
  Tensor twice;
};

}  // namespace

TEST_CASE("elements are maps of names, as TensorFlow's dicts", "[data][dataset]") {
  const Dataset rows = Dataset::from_tensor_slices(
      TensorMap{{"b", Tensor{int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}}},
                {"a", Tensor{int64_t{0}, int64_t{2}, int64_t{4}, int64_t{6}}}});
  CHECK(answer_of(rows.batch(3)) == tensorflow_answer("dict"));
  CHECK(to_string(rows.element_spec()) == "(a: [] int64, b: [] int64)");
  const Dataset mapped = rows.map([](TensorMap element) {
    element["c"] = element.at("a");
    element.erase("a");
    return element;
  });
  CHECK(to_string(mapped.element_spec()) == "(b: [] int64, c: [] int64)");
  for (const Batch& batch : mapped.shuffle(4).batch(2).rebatch({1}).unbatch().batch(4).repeat(2))
    CHECK(numbers_of(batch["c"])[0] == 2 * numbers_of(batch["b"])[0]);
  const Dataset labelled = Dataset::zip({rows, Dataset::range(4)});
  const Batch first = labelled.iterator().next();
  CHECK(first["a"].item<int64_t>() == 0);
  CHECK(to_string(labelled.element_spec()) == "(a: [] int64, b: [] int64, [] int64)");
  CHECK_THROWS_AS(rows.concatenate(mapped), InvalidArgumentError);
}

TEST_CASE("elements are structures of the program", "[data][dataset]") {
  const Dataset numbers = Dataset::range(1, 5).map([](const Batch& number) {
    const int64_t n = number.x.item<int64_t>();
    return Pair{int64_t{n}, fill(Shape{n}, float(2 * n), DType::Int64)};
  });
  const Dataset even =
      numbers.filter([](const Pair& pair) { return pair.value.item<int64_t>() % 2 == 0; });
  for (const Pair pair : even.padded_batch(2)) {
    CHECK(numbers_of(pair.value) == Numbers{2, 4});
    CHECK(numbers_of(pair.twice) == Numbers{4, 4, 0, 0, 8, 8, 8, 8});
  }
  CHECK(numbers.reduce(int64_t{0}, [](int64_t sum, const Pair& pair) {
    return sum + pair.value.item<int64_t>();
  }) == 10);
  const Dataset one =
      Dataset::from_tensors(Batch{Tensor{int64_t{0}, int64_t{1}, int64_t{2}}, int64_t{7}});
  CHECK(answer_of(one) == tensorflow_answer("tensors"));
  CHECK(resumes_everywhere(one));
  const Pair rows{Tensor{int64_t{1}, int64_t{2}}, Tensor{int64_t{2}, int64_t{4}}};
  CHECK(Dataset::from_tensor_slices(rows).cardinality() == 2);
  CHECK(Dataset::from_tensors(Tensor{1.0f, 2.0f}).cardinality() == 1);
}
