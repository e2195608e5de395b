#include <distribute/ops/array.hpp>

#include "support/catch.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;

TEST_CASE("pad adds a constant or mirrors", "[ops][pad]") {
  const Tensor x({1, 3}, std::vector<float>{1, 2, 3});
  CHECK(pad(x, {{0, 1}, {1, 1}}).to_vector() == std::vector<float>{0, 1, 2, 3, 0, 0, 0, 0, 0, 0});
  CHECK(pad(x, {{0, 0}, {1, 0}}, PadMode::Constant, 7).to_vector() ==
        std::vector<float>{7, 1, 2, 3});
  CHECK(pad(x, {{0, 0}, {2, 2}}, PadMode::Reflect).to_vector() ==
        std::vector<float>{3, 2, 1, 2, 3, 2, 1});
  CHECK(pad(x, {{1, 0}, {2, 3}}, PadMode::Symmetric).to_vector() ==
        std::vector<float>{2, 1, 1, 2, 3, 3, 2, 1, 2, 1, 1, 2, 3, 3, 2, 1});
  const Tensor bytes({2}, std::vector<uint8_t>{1, 2});
  CHECK(pad(bytes, {{1, 0}}, PadMode::Constant, 9).to_vector() == std::vector<float>{9, 1, 2});
}

TEST_CASE("pad refuses what it cannot give", "[ops][pad]") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_AS(pad(x, {{1, 1}}), InvalidArgumentError);
  CHECK_THROWS_AS(pad(x, {{0, -1}, {0, 0}}), InvalidArgumentError);
  CHECK_THROWS_WITH(pad(x, {{2, 0}, {0, 0}}, PadMode::Reflect),
                    "pad: axis 0 of shape [2, 3] cannot get 2 before and 0 after");
}

TEST_CASE("gradients of pad", "[ops][pad]") {
  const Tensor x = test_tensor({3, 4});
  for (PadMode mode : {PadMode::Constant, PadMode::Reflect, PadMode::Symmetric})
    check_gradient([mode](auto& in) { return pad(in[0], {{1, 2}, {0, 3}}, mode); }, {x});
}
