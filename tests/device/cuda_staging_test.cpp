// Page-locked memory between host and GPUs.
#include <distribute/device/detail/cuda_staging.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/fake_cuda.hpp>

using namespace distribute;
using testing::FakeCuda;

namespace {

constexpr Device kGpu{DeviceType::Gpu, 0};

}  // namespace

TEST_CASE("values go to a GPU and come back without a wait for each", "[device][cuda]") {
  const FakeCuda fake;
  StagingMemory staging(kGpu);
  const Buffer on_gpu(8192, kGpu);
  std::vector<int> values(2048);
  std::iota(values.begin(), values.end(), 7);
  const auto there = staging.take(8192);
  std::memcpy(there->data(), values.data(), 8192);
  for (int64_t begin = 0; begin < 8192; begin += 1024)
    there->send(begin, 1024, static_cast<char*>(on_gpu.data()) + begin, kGpu);
  const auto back = staging.take(8192);
  for (int64_t begin = 0; begin < 8192; begin += 1024)
    back->fetch(static_cast<char*>(on_gpu.data()) + begin, kGpu, begin, 1024);
  CHECK(fake.count("cuStreamSynchronize") == 0);
  back->synchronize();
  CHECK(fake.count("cuStreamSynchronize") == 1);
  CHECK(std::memcmp(back->data(), values.data(), 8192) == 0);
  CHECK(fake.count("cuMemcpyHtoDAsync") == 8);
  CHECK(fake.count("cuMemcpyDtoHAsync") == 8);
}

TEST_CASE("a staging block is handed out again when its copies are done", "[device][cuda]") {
  FakeCuda fake;
  StagingMemory staging(kGpu);
  const Buffer on_gpu(4096, kGpu);
  const auto send_one = [&] {
    const auto block = staging.take(4000);
    block->send(0, 4000, on_gpu.data(), kGpu);
    return block->data();
  };
  const char* first = send_one();
  CHECK(fake.count("cuEventRecord") == 1);
  fake.fail_next("cuEventQuery", kCudaNotReady);
  const auto other = staging.take(4000);
  CHECK(other->data() != first);  // it is still being read
  CHECK(staging.take(4000)->data() == first);
  CHECK(fake.count("cuMemHostAlloc") == 2);
  CHECK(staging.take(5000)->bytes() == 8192);
}

TEST_CASE("a staging block outlives the memory that it came from", "[device][cuda]") {
  const FakeCuda fake;
  std::shared_ptr<StagingBlock> block;
  {
    StagingMemory staging(kGpu);
    block = staging.take(10);
  }
  block->data()[0] = 1;
  block = nullptr;
  CHECK(fake.count("cuMemHostAlloc") == 1);
}
