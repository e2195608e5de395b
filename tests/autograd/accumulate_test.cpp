#include <distribute/autograd/detail/accumulate.hpp>

#include "../support/check_close.hpp"
#include "../support/gradient_check.hpp"

using namespace distribute;
using Floats = std::vector<float>;

TEST_CASE("combine adds a multiple", "[autograd][accumulate]") {
  const Tensor a{1.0f, 2.0f}, b{10.0f, 20.0f};
  CHECK(combine(a, b, 1).to_vector() == Floats{11, 22});
  CHECK(combine(a, b, -0.5f).to_vector() == Floats{-4, -8});
  CHECK(combine(Tensor{5, 6}, Tensor{1, 2}, -1).to_vector() == Floats{4, 4});
  const Tensor half{bfloat16(1.5f)};
  CHECK(combine(half, half, 1).dtype() == DType::BFloat16);
  CHECK(combine(half, half, 1).item<float>() == 3);
  CHECK_THROWS_WITH(combine(a, zeros({3}), 1), "sum: [2] float32 and [3] float32");
  CHECK_THROWS_AS(combine(a, Tensor{1, 2}, 1), InvalidArgumentError);
}

TEST_CASE("combine has the layout of its first operand", "[autograd][accumulate]") {
  const Tensor a = test_tensor({3, 4}), b = test_tensor({3, 4}, 2);
  const Floats wanted = combine(a, b, 2).to_vector();
  CHECK(combine(reversed(a), b, 2).layout());
  CHECK(combine(reversed(a), b, 2).to_vector() == wanted);
  CHECK_FALSE(combine(a, reversed(b), 2).layout());
  CHECK(combine(a, reversed(b), 2).to_vector() == wanted);
}

TEST_CASE("combine of indexed slices joins their rows", "[autograd][accumulate]") {
  const auto slices = [](int64_t row, float value) {
    return to_tensor({fill({1, 2}, value), Tensor{row}, {3, 2}});
  };
  const Tensor both = combine(slices(0, 1), slices(2, 5), 2);
  CHECK(is_indexed_slices(both));
  CHECK(both.to_vector() == Floats{1, 1, 0, 0, 10, 10});
  const Tensor dense = ones({3, 2});
  CHECK(combine(slices(1, 4), dense, 1).to_vector() == Floats{1, 1, 5, 5, 1, 1});
  CHECK(combine(dense, slices(1, 4), -1).to_vector() == Floats{1, 1, -3, -3, 1, 1});
}

TEST_CASE("combine has gradients", "[autograd][accumulate]") {
  for (float factor : {1.0f, -1.0f, 2.5f})
    check_gradient([=](auto& in) { return combine(in[0], in[1], factor); },
                   {test_tensor({2, 3}), test_tensor({2, 3}, 2)});
}

TEST_CASE("in_layout converts there and back", "[autograd][accumulate]") {
  const Tensor x = test_tensor({2, 3});
  const Tensor y = reversed(x);
  CHECK(in_layout(x, nullptr).id() == x.id());
  CHECK(in_layout(y, y.layout()).id() == y.id());
  CHECK(in_layout(y, nullptr).to_vector() == x.to_vector());
  CHECK(y.array().data<float>()[0] == x.to_vector()[5]);
}
