#include <distribute/tensor/shape.hpp>

#include <distribute/base/error.hpp>

#include "../support/catch.hpp"

using namespace distribute;

TEST_CASE("a shape counts axes from both ends", "[tensor][shape]") {
  const Shape shape{2, 3, 4};
  CHECK(shape.rank() == 3);
  CHECK(shape.num_elements() == 24);
  CHECK(shape[0] == 2);
  CHECK(shape[-1] == 4);
  CHECK(shape.with(-2, 9) == Shape{2, 9, 4});
  CHECK(to_string(shape) == "[2, 3, 4]");
  CHECK(std::vector<int64_t>(shape.begin(), shape.end()) == std::vector<int64_t>{2, 3, 4});
  CHECK_THROWS_WITH(shape[3], "axis 3 does not exist in shape [2, 3, 4]");
  CHECK_THROWS_AS(shape[-4], InvalidArgumentError);
}

TEST_CASE("a shape without axes is a scalar", "[tensor][shape]") {
  CHECK(Shape{}.num_elements() == 1);
  CHECK(to_string(Shape{}) == "[]");
  CHECK(Shape{0, 5}.num_elements() == 0);
  CHECK(Shape{} != Shape{1});
  CHECK(Shape{1, 2} != Shape{2, 1});
}

TEST_CASE("a shape refuses nine axes and negative sizes", "[tensor][shape]") {
  Shape shape{1, 1, 1, 1, 1, 1, 1, 1};
  CHECK_THROWS_AS(shape.push_back(1), InvalidArgumentError);
  CHECK_THROWS_AS((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}), InvalidArgumentError);
  CHECK_THROWS_WITH((Shape{2, -1}), "axis 1 has the negative size -1");
}

TEST_CASE("shapes broadcast from the last axis", "[tensor][shape]") {
  CHECK(broadcast_shapes("add", {2, 3}, {3}) == Shape{2, 3});
  CHECK(broadcast_shapes("add", {3, 1}, {1, 4}) == Shape{3, 4});
  CHECK(broadcast_shapes("add", {}, {5}) == Shape{5});
  CHECK(broadcast_shapes("add", {0}, {1}) == Shape{0});
  CHECK_THROWS_WITH(broadcast_shapes("add", {2, 3}, {2}),
                    "add: shapes do not broadcast: [2, 3] and [2]");
  CHECK_THROWS_AS(broadcast_shapes("add", {0}, {2}), InvalidArgumentError);
}
