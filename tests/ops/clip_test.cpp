#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/reduce.hpp>

#include "support/blocked_layout.hpp"
#include "support/catch.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;

TEST_CASE("global_norm sums over all tensors and passes over none", "[ops][clip]") {
  CHECK(global_norm({Tensor{3.0f}, Tensor(), Tensor{0.0f, 4.0f}}).item<float>() == 5);
  CHECK(global_norm({}).item<float>() == 0);
  CHECK_THROWS_AS(global_norm({zeros({2}, DType::Int32)}), InvalidArgumentError);
}

TEST_CASE("clip_by_global_norm scales only what is too long", "[ops][clip]") {
  const std::vector<Tensor> list = {Tensor{3.0f}, Tensor(), Tensor{0.0f, 4.0f}};
  const auto clipped = clip_by_global_norm(list, 2.5f);
  CHECK(clipped.norm.item<float>() == 5);
  CHECK(clipped.list[0].to_vector() == std::vector<float>{1.5f});
  CHECK_FALSE(clipped.list[1]);
  CHECK(clipped.list[2].to_vector() == std::vector<float>{0, 2});
  CHECK(clip_by_global_norm(list, 7).list[2].to_vector() == std::vector<float>{0, 4});
  CHECK(clip_by_global_norm(list, 5, Tensor(10.0f)).list[0].to_vector() ==
        std::vector<float>{1.5f});
  CHECK_THROWS_AS(clip_by_global_norm(list, 0), InvalidArgumentError);
}

TEST_CASE("a norm that is not finite makes every element NaN", "[ops][clip]") {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto clipped = clip_by_global_norm({Tensor{infinity}, Tensor{1.0f}}, 1);
  CHECK(std::isnan(clipped.list[1].item<float>()));
  CHECK(clipped.norm.item<float>() == infinity);
}

TEST_CASE("clip_by_norm clips one tensor, of any floating type", "[ops][clip]") {
  CHECK(clip_by_norm(Tensor{3.0f, 4.0f}, 1).to_vector()[1] == Approx(0.8f));
  CHECK(clip_by_norm(Tensor{0.3f, 0.4f}, 1).to_vector()[1] == 0.4f);
  const Tensor half = cast(Tensor{3.0f, 4.0f}, DType::BFloat16);
  CHECK(clip_by_norm(half, 2.5f).dtype() == DType::BFloat16);
  CHECK(clip_by_norm(half, 2.5f).to_vector() == std::vector<float>{1.5f, 2});
  CHECK_THROWS_WITH(clip_by_norm(half, -1), "clip_by_norm: clip_norm must be positive, got -1");
}

TEST_CASE("layouts and sparse rows stay as they are", "[ops][clip]") {
  const Tensor x = test_tensor({2, 3, 3, 20});
  const Tensor blocked = in_layout(x, std::make_shared<BlockedLayout>(x.shape(), 16));
  const Tensor clipped = clip_by_norm(blocked, 0.5f);
  CHECK(clipped.layout() == blocked.layout());
  CHECK(global_norm({clipped}).item<float>() == Approx(0.5f));
  CHECK(global_norm({blocked}).item<float>() == Approx(global_norm({x}).item<float>()));
  const Tensor rows = to_tensor({Tensor({2, 1}, std::vector<float>{3, 4}),
                                 Tensor(Shape{2}, std::vector<int64_t>{5, 1}), Shape{9, 1}});
  const Tensor shorter = clip_by_norm(rows, 2.5f);
  REQUIRE(is_indexed_slices(shorter));
  CHECK(indexed_slices(shorter).values.to_vector() == std::vector<float>{1.5f, 2});
}

TEST_CASE("gradients pass through clipping", "[ops][clip]") {
  const Tensor a = test_tensor({5}, 1), b = test_tensor({2, 3}, 2);
  for (float limit : {0.5f, 50.0f})
    check_gradients(
        [limit](auto& in) {
          const auto clipped = clip_by_global_norm({in[0], in[1]}, limit);
          return std::vector<Tensor>{clipped.list[0], clipped.list[1], clipped.norm};
        },
        {a, b});
  check_gradient([](auto& in) { return clip_by_norm(in[0], 0.25f); }, {a});
}

TEST_CASE("norms do not depend on the number of threads", "[ops][clip]") {
  const Tensor x = test_tensor({300'001});
  const int before = intra_op_threads();
  const float norm = global_norm({x}).item<float>();
  for (int threads : {1, 3}) {
    set_intra_op_threads(threads);
    CHECK(global_norm({x}).item<float>() == norm);
  }
  set_intra_op_threads(before);
}
