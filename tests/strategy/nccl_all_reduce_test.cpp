// NcclAllReduce on fake GPUs with a fake NCCL.
#include <distribute/strategy/cross_device_ops.hpp>

#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_device.hpp>

#include <distribute/collective/communicator.hpp>
#include <distribute/collective/detail/nccl_transport.hpp>
#include <distribute/device/detail/cuda_memory.hpp>

#include "../support/catch.hpp"
#include "../support/fake_nccl.hpp"
#include "../support/gpu_contract.hpp"

#include <vector>

using namespace distribute;
using distribute::testing::FakeCuda;
using distribute::testing::FakeNccl;

namespace {

Device gpu(int index) { return {DeviceType::Gpu, index}; }

std::vector<Tensor> values_on(std::vector<Device> devices) {
  std::vector<Tensor> values;
  for (size_t i = 0; i < devices.size(); ++i)
    values.push_back(Tensor{1.0f + float(i), -3.0f}.to(devices[i]));
  return values;
}

}  // namespace

TEST_CASE("values of three GPUs are reduced over NCCL", "[strategy][nccl_all_reduce]") {
  FakeCuda cuda({.gpus = 3});
  const collective::ScopedNccl scoped(FakeNccl::table());
  NcclAllReduce ops;
  const auto values = values_on({gpu(1), gpu(0), gpu(2)});
  const Tensor sum = ops.reduce(ReduceOp::Sum, values);
  CHECK(sum.device() == gpu(1));
  CHECK(sum.to_vector() == std::vector<float>{6.0f, -9.0f});
  CHECK(ops.reduce(ReduceOp::Mean, values).to_vector() == std::vector<float>{2.0f, -3.0f});
  CHECK(FakeNccl::calls() == 6);
  CHECK(values[0].to_vector() == std::vector<float>{1.0f, -3.0f});
  const auto both = ops.batch_reduce(ReduceOp::Sum, {values, values});
  CHECK(both[1].to_vector() == sum.to_vector());
}

TEST_CASE("a batch travels in as many packs as asked for", "[strategy][nccl_all_reduce]") {
  FakeCuda cuda({.gpus = 3});
  const collective::ScopedNccl scoped(FakeNccl::table());
  const auto values = values_on({gpu(0), gpu(1), gpu(2)});
  const std::vector batch{values, values, values};
  int calls = FakeNccl::calls();
  const auto calls_of = [&](int packs) {
    NcclAllReduce ops(packs);
    const auto sums = ops.batch_reduce(ReduceOp::Sum, batch);
    for (const Tensor& sum : sums) CHECK(sum.to_vector() == std::vector<float>{6.0f, -9.0f});
    const int before = calls;
    calls = FakeNccl::calls();
    return calls - before;
  };
  CHECK(calls_of(0) == 9);  // three GPUs, three values
  CHECK(calls_of(1) == 3);
  CHECK(calls_of(2) == 6);
}

TEST_CASE("what NCCL refuses is added on the first device", "[strategy][nccl_all_reduce]") {
  FakeCuda cuda({.gpus = 2});
  const collective::ScopedNccl scoped(FakeNccl::table());
  set_logical_gpus({{0}, {1}, {1}});
  NcclAllReduce ops;
  const Tensor shared = ops.reduce(ReduceOp::Sum, values_on({gpu(0), gpu(1), gpu(2)}));
  CHECK(shared.to_vector() == std::vector<float>{6.0f, -9.0f});
  const Tensor host = ops.reduce(ReduceOp::Sum, values_on({Device{}, gpu(1), gpu(0)}));
  CHECK(host.to_vector() == std::vector<float>{6.0f, -9.0f});
  CHECK(ops.reduce(ReduceOp::Sum, values_on({gpu(0)})).to_vector() ==
        std::vector<float>{1.0f, -3.0f});
  CHECK(FakeNccl::calls() == 0);
  CHECK_THROWS_AS(NcclAllReduce(-1), InvalidArgumentError);
}

TEST_CASE("the real NCCL sums with one rank", "[strategy][nccl_real]") {
  if (!testing::tests_real_gpu()) {
    WARN("skipped: NCCL needs a real GPU");
    return;
  }
  const testing::ContractGpu contract;
  const Device device = gpu(0);
  auto transports =
      collective::make_nccl_transports(std::span(&device, 1), net::Deadline::after_seconds(30));
  collective::Communicator group(std::move(transports[0]));
  const Tensor x = testing::contract_numbers({1 << 20}).to(device);
  const Tensor y = Tensor::empty(x.shape(), x.dtype(), device);
  copy_bytes(y.array().bytes(), device, x.array().bytes(), device, x.num_elements() * 4);
  group.all_reduce(y.array().bytes(), y.num_elements(), DType::Float32);
  CHECK(y.to_vector() == x.to_vector());
}
