#include <distribute/data/batch.hpp>

#include <distribute/data/element_spec.hpp>

#include <tests/support/catch.hpp>

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
