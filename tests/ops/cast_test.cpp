#include <distribute/ops/array.hpp>

#include "../support/check_close.hpp"
#include "../support/gradient_check.hpp"

using namespace distribute;
using Floats = std::vector<float>;

TEST_CASE("small numbers survive a cast between any two types", "[ops][cast]") {
  const DType types[] = {DType::Float32, DType::BFloat16, DType::Float16, DType::Int32,
                         DType::Int64,   DType::UInt8,    DType::Bool};
  const Tensor numbers{0.0f, 1.0f};
  for (DType from : types)
    for (DType to : types) {
      const Tensor y = cast(cast(numbers, from), to);
      CHECK(y.dtype() == to);
      CHECK(y.to_vector() == Floats{0, 1});
    }
}

TEST_CASE("floats lose their fraction and saturate", "[ops][cast]") {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x{1.9f, -1.9f, 3e10f, -inf, std::nanf("")};
  CHECK(cast(x, DType::Int32).data<int32_t>()[1] == -1);
  CHECK(cast(x, DType::Int32).data<int32_t>()[2] == std::numeric_limits<int32_t>::max());
  CHECK(cast(x, DType::Int64).data<int64_t>()[2] == 30000001024);
  CHECK(cast(x, DType::Int64).data<int64_t>()[3] == std::numeric_limits<int64_t>::min());
  CHECK(cast(x, DType::UInt8).to_vector() == Floats{1, 0, 255, 0, 0});
  CHECK(cast(Tensor{0.5f, 0.0f, -2.0f}, DType::Bool).to_vector() == Floats{1, 0, 1});
  CHECK(cast(Tensor{int64_t{1} << 40}, DType::Int32).item<int32_t>() == 0);
}

TEST_CASE("casting many floats to bfloat16 rounds as one does", "[ops][cast]") {
  std::vector<float> values;
  for (uint64_t word = 0; word < (uint64_t{1} << 32); word += 65521 * 3)
    values.push_back(std::bit_cast<float>(uint32_t(word)));
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  const Tensor x({int64_t(values.size())}, values), y = cast(x, DType::BFloat16);
  bool same = true;
  for (size_t i = 0; i < values.size(); ++i)
    same &= y.data<bfloat16>()[i].bits == bfloat16(values[i]).bits;
  CHECK(same);
}

TEST_CASE("a cast to the same type is the tensor itself", "[ops][cast]") {
  const Tensor x{1.0f};
  CHECK(cast(x, DType::Float32).id() == x.id());
}

TEST_CASE("gradients are cast back and end at integers", "[ops][cast]") {
  const Tensor x{1.5f, 2.5f};
  WatchingTape tape({x}, GradientTape::Options{.persistent = true});
  const Tensor half = cast(x, DType::Float16), whole = cast(x, DType::Int32);
  const Tensor gradient = tape.gradient(half, x);
  CHECK(gradient.dtype() == DType::Float32);
  CHECK(gradient.to_vector() == Floats{1, 1});
  CHECK_FALSE(tape.gradient(cast(whole, DType::Float32), x));
}
