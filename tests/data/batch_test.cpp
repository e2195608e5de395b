#include <distribute/data/batch.hpp>

#include <distribute/data/element_spec.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::data;

TEST_CASE("a batch binds to x and y and keeps further components", "[data][batch]") {
  const Tensor one(1.0f), two(2.0f), three(3.0f);
  const auto [x, y] = Batch{one, two};
  CHECK(x.id() == one.id());
  CHECK(y.id() == two.id());
  const Batch batch = Batch::from_components({one, two, three});
  REQUIRE(batch.size() == 3);
  CHECK(batch[2].id() == three.id());
  CHECK(batch.components()[1].id() == two.id());
  CHECK(Batch{one}.size() == 1);
  CHECK(Batch{}.size() == 0);
}

TEST_CASE("rows of a batch share its memory, concat_rows joins them again", "[data][batch]") {
  const Batch batch{Tensor(Shape{3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}), Tensor{7, 8, 9}};
  CHECK(batch_size(batch) == 3);
  const Batch tail = rows(batch, 1, 3);
  CHECK(tail.x.data<float>().data() == batch.x.data<float>().data() + 2);
  CHECK(tail.y.data<int32_t>()[1] == 9);
  const Batch joined = concat_rows({tail, rows(batch, 0, 0), rows(batch, 0, 1)});
  CHECK(joined.x.to_vector() == std::vector<float>{3, 4, 5, 6, 1, 2});
  CHECK(joined.y.to_vector() == std::vector<float>{8, 9, 7});
}

TEST_CASE("batches that do not fit together are refused", "[data][batch]") {
  CHECK_THROWS_AS(batch_size(Batch{Tensor(1.0f)}), InvalidArgumentError);
  CHECK_THROWS_AS(batch_size(Batch{zeros({2}), zeros({3})}), InvalidArgumentError);
  CHECK_THROWS_AS(concat_rows({}), InvalidArgumentError);
  CHECK_THROWS_AS(concat_rows({Batch{zeros({2, 2})}, Batch{zeros({2, 3})}}), InvalidArgumentError);
  CHECK_THROWS_AS(concat_rows({Batch{zeros({2})}, Batch{zeros({2}, DType::Int32)}}),
                  InvalidArgumentError);
  CHECK_THROWS_AS(stack_rows({Batch{zeros({2})}, Batch{zeros({2}), zeros({2})}}),
                  InvalidArgumentError);
}

TEST_CASE("the common spec of two datasets leaves differing sizes open", "[data][element_spec]") {
  const ElementSpec a = spec_of({zeros({4, 3})}), b = spec_of({zeros({2, 3})});
  CHECK(to_string(common_spec(a, b)) == "([-1, 3] float32)");
  CHECK_THROWS_AS(common_spec(a, spec_of({zeros({4})})), InvalidArgumentError);
  CHECK_THROWS_AS(common_spec(a, spec_of({zeros({4, 3}, DType::Int64)})), InvalidArgumentError);
  CHECK(empty_batch({{{-1, -1, 5}, DType::Int64}}).x.shape() == Shape{0, 0, 5});
}

namespace {

struct Example {
  Tensor image;
  Tensor label;
};
struct WithNumber {
  Tensor image;
  int64_t number = 0;
};
static_assert(TensorAggregate<Example> && TensorAggregate<std::array<Tensor, 3>>);
static_assert(!TensorAggregate<Batch> && !TensorAggregate<Tensor> && !TensorAggregate<WithNumber> &&
              !TensorAggregate<IndexedSlices>);

}  // namespace

TEST_CASE("a batch becomes a structure of tensors and back", "[data][batch]") {
  const Tensor one(1.0f), two(2.0f);
  const Batch batch{one, two};
  const Example example = batch;
  CHECK(example.image.id() == one.id());
  CHECK(example.label.id() == two.id());
  CHECK(to_batch(example)[1].id() == two.id());
  const std::function<uint64_t(const Batch&)> takes_structure = [](const Example& e) {
    return e.label.id();
  };
  CHECK(takes_structure(batch) == two.id());
  check_throws<InvalidArgumentError>([&] { std::array<Tensor, 3> three = batch; },
                                     "2 components cannot become a structure of 3 tensors");
}

TEST_CASE("components have names where the element is a map", "[data][batch]") {
  const Tensor one{1.0f, 2.0f}, two{3.0f, 4.0f};
  const Batch batch = to_batch(TensorMap{{"b", two}, {"a", one}});
  CHECK(batch["b"].id() == two.id());
  CHECK(batch.x.id() == one.id());  // in the order of the names
  CHECK(to_string(spec_of(batch)) == "(a: [2] float32, b: [2] float32)");
  const TensorMap map = rows(stack_rows({batch, batch}), 0, 1);
  CHECK(map.at("b").to_vector() == std::vector<float>{3, 4});
  CHECK(empty_batch(spec_of(batch))["b"].shape() == Shape{0});
  check_throws<InvalidArgumentError>([&] { batch["c"]; }, "\"c\"; its names are a, b");
  check_throws<InvalidArgumentError>([&] { Batch{one}["c"]; }, "it has no names");
  check_throws<InvalidArgumentError>([&] { TensorMap none = Batch{one}; }, "has no name");
  CHECK_THROWS_AS(to_batch(TensorMap{{"", one}}), InvalidArgumentError);
}
