#include <distribute/strategy/detail/gradient_packs.hpp>

#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/strategy/cross_device_ops.hpp>
#include <distribute/strategy/detail/reduction.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/gradient_check.hpp>

#include <vector>

using namespace distribute;
using namespace distribute::strategy_internal;

namespace {

/// Values of three replicas, a scalar, an empty one and whole numbers among them.
std::vector<std::vector<Tensor>> batch() {
  std::vector<std::vector<Tensor>> values;
  uint64_t seed = 1;
  for (const Shape& shape : {Shape{2, 3}, Shape{}, Shape{0, 4}, Shape{7}}) {
    values.emplace_back();
    for (int r = 0; r < 3; ++r) values.back().push_back(test_tensor(shape, seed++));
  }
  values.push_back({Tensor{int64_t{1}}, Tensor{int64_t{10}}, Tensor{int64_t{100}}});
  return values;
}

}  // namespace

TEST_CASE("packs give what single values give", "[strategy][gradient_packs]") {
  const int packs = GENERATE(1, 2, 3, 5, 100);
  const auto values = batch();
  std::vector<int64_t> sizes;  // of the float32 packs
  const auto results = reduce_in_packs(values, packs, [&](const std::vector<Tensor>& pack) {
    if (pack[0].dtype() == DType::Float32) sizes.push_back(pack[0].num_elements());
    return reduce_tensors("test", ReduceOp::Sum, pack);
  });
  REQUIRE(results.size() == values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const Tensor alone = reduce_tensors("test", ReduceOp::Sum, values[i]);
    CHECK(results[i].shape() == alone.shape());
    CHECK(results[i].dtype() == alone.dtype());
    CHECK(results[i].to_vector() == alone.to_vector());
  }
  const int64_t all = 6 + 1 + 0 + 7, count = std::min<int64_t>(packs, all);
  std::vector<int64_t> expected(size_t(count), all / count);
  expected.back() += all % count;
  CHECK(sizes == expected);
}

TEST_CASE("values that lie in one memory are not packed", "[strategy][gradient_packs]") {
  CHECK_FALSE(suits_packs(batch()));
  CHECK_FALSE(suits_packs({}));
  HierarchicalCopyAllReduce ops(2);
  const auto values = batch();
  const auto sums = ops.batch_reduce(ReduceOp::Sum, values);
  for (size_t i = 0; i < values.size(); ++i)
    CHECK(sums[i].to_vector() == ops.reduce(ReduceOp::Sum, values[i]).to_vector());
}
