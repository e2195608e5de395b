#include <distribute/base/error.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

TEST_CASE("handles to a tensor share its hints, a new tensor has none", "[tensor][tensor_hints]") {
  Tensor x{1.0f, 2.0f};
  const Tensor same = x;
  CHECK_FALSE(TensorHints::of(x).relu_output);
  TensorHints::of(x).relu_output = true;
  TensorHints::of(x).channel_sums = Tensor(3.0f);
  CHECK(TensorHints::of(same).relu_output);
  CHECK(TensorHints::of(same).channel_sums.item<float>() == 3);
  CHECK_FALSE(TensorHints::of(same).gated);
  CHECK_FALSE(TensorHints::of(x.renamed()).relu_output);
}

TEST_CASE("an empty tensor has no hints", "[tensor][tensor_hints]") {
  Tensor none;
  CHECK_THROWS_AS(TensorHints::of(none), InvalidArgumentError);
  CHECK_THROWS_AS(TensorHints::of(Tensor()), InvalidArgumentError);
}
