#include <distribute/collective/detail/combine.hpp>
#include <distribute/collective/detail/sum_order.hpp>

#include <tests/collective/contract.hpp>

using namespace distribute;
using namespace distribute::collective;
using contract::Array;

namespace {

constexpr ReductionOp kOps[] = {ReductionOp::Sum, ReductionOp::Mean, ReductionOp::Min,
                                ReductionOp::Max, ReductionOp::Product};

template <typename T>
struct Inputs {
  Inputs(int ranks, int64_t count) {
    for (int r = 0; r < ranks; ++r) {
      parts.push_back(contract::numbers<T>(r, count));
      arrays.emplace_back(parts.back());
    }
    for (const auto& array : arrays) pointers.push_back(array.get());
  }
  std::vector<T> expected(ReductionOp op) const { return contract::expected(op, parts); }
  std::vector<std::vector<T>> parts;
  std::vector<Array<T>> arrays;
  std::vector<const void*> pointers;
};

template <typename T>
void check_all(int ranks, int64_t count) {
  for (ReductionOp op : kOps) {
    if (std::is_same_v<T, bool> && op == ReductionOp::Mean) continue;
    CAPTURE(name_of(op), distribute::name_of(dtype_of<T>), ranks, count);
    const Inputs<T> inputs(ranks, count);
    const Array<T> want(inputs.expected(op));
    const Array<T> out(count);
    combine(op, dtype_of<T>, inputs.pointers, out.get(), count);
    CHECK(contract::same_bits(out.get(), want.get(), size_t(count)));

    // Branch by branch: first two parts, then the halves of both.
    const size_t wide = size_t(count * size_of(accumulator_of(dtype_of<T>))) + 8;
    const auto branch = [&](int first, int size, std::vector<std::byte>& memory) -> Branch {
      if (size == 1) return {inputs.pointers[size_t(first)], true};
      memory.resize(wide);
      combine_branch(op, dtype_of<T>,
                     std::span(inputs.pointers).subspan(size_t(first), size_t(size)), memory.data(),
                     count);
      return {memory.data(), false};
    };
    if (ranks > 1) {
      std::vector<std::byte> left, right, partial(wide);
      const int half = left_ranks(ranks);
      const Branch a = branch(0, half, left), b = branch(half, ranks - half, right);
      combine_branches(op, dtype_of<T>, a, b, partial.data(), count);
      const Array<T> finished(count);
      finish(op, dtype_of<T>, partial.data(), finished.get(), count, ranks);
      CHECK(contract::same_bits(finished.get(), want.get(), size_t(count)));
    }

    // The result over each of the inputs.
    for (int r = 0; r < ranks; ++r) {
      const Inputs<T> again(ranks, count);
      combine(op, dtype_of<T>, again.pointers, again.arrays[size_t(r)].get(), count);
      CHECK(contract::same_bits(again.arrays[size_t(r)].get(), want.get(), size_t(count)));
    }
  }
}

}  // namespace

TEST_CASE("the order is a binary tree that splits at powers of two", "[collective][combine]") {
  const auto text = [](int ranks) {
    return combine_in_order(
        0, ranks, [](int r) { return std::to_string(r); },
        [](const std::string& a, const std::string& b) { return "(" + a + " " + b + ")"; });
  };
  CHECK(text(1) == "0");
  CHECK(text(2) == "(0 1)");
  CHECK(text(3) == "((0 1) 2)");
  CHECK(text(5) == "(((0 1) (2 3)) 4)");
  CHECK(text(7) == "(((0 1) (2 3)) ((4 5) 6))");
  CHECK(text(8) == "(((0 1) (2 3)) ((4 5) (6 7)))");
}

TEST_CASE("an error grows with the logarithm of the number of ranks", "[collective][combine]") {
  // 4,096 times 0.1f in float32: the tree only doubles, and is exact; one after the other is not.
  const float tenth = 0.1f;
  const std::vector<const void*> inputs(4096, &tenth);
  float sum = 0, one_after_the_other = 0;
  combine(ReductionOp::Sum, DType::Float32, inputs, &sum, 1);
  for (int r = 0; r < 4096; ++r) one_after_the_other += tenth;
  CHECK(sum == 4096 * tenth);
  CHECK(one_after_the_other != 4096 * tenth);
}

TEST_CASE("combine, and branches with finish, reduce in this order", "[collective][combine]") {
  for (int ranks : {1, 2, 3, 4, 7, 8, 17})
    for (int64_t count : {0, 1, 17, 1024, 3001}) {
      check_all<float>(ranks, count);
      check_all<bfloat16>(ranks, count);
      check_all<float16>(ranks, count);
      check_all<int32_t>(ranks, count);
      check_all<int64_t>(ranks, count);
      check_all<uint8_t>(ranks, count);
      check_all<bool>(ranks, count);
    }
}

TEST_CASE("where an array is cut changes no bit of its sum", "[collective][combine]") {
  const Inputs<float> inputs(5, 5000);
  const Array<float> whole(5000), pieces(5000);
  combine(ReductionOp::Sum, DType::Float32, inputs.pointers, whole.get(), 5000);
  for (int64_t begin = 0, size = 1; begin < 5000; begin += size, size = size * 2 + 1) {
    const int64_t count = std::min(size, 5000 - begin);
    std::vector<const void*> shifted;
    for (const auto& array : inputs.arrays) shifted.push_back(array.get() + begin);
    combine(ReductionOp::Sum, DType::Float32, shifted, pieces.get() + begin, count);
  }
  CHECK(contract::same_bits(whole.get(), pieces.get(), 5000));
}

TEST_CASE("16-bit floats add in float32", "[collective][combine]") {
  // 256 + 1 is 256 in bfloat16; three ones are not lost when the sum is kept in float32.
  const bfloat16 big = 256.0f, one = 1.0f, another = 1.0f;
  const void* inputs[] = {&big, &one, &another};
  bfloat16 sum;
  combine(ReductionOp::Sum, DType::BFloat16, inputs, &sum, 1);
  CHECK(float(sum) == 258.0f);
}

TEST_CASE("the mean of bool is refused", "[collective][combine]") {
  const bool yes = true;
  const void* inputs[] = {&yes};
  bool out;
  CHECK_THROWS_AS(combine(ReductionOp::Mean, DType::Bool, inputs, &out, 1), InvalidArgumentError);
}
