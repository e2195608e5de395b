// What streams, events, memory and recordings promise, on the fake driver and, with
// DISTRIBUTE_TEST_GPU=1, on a real one: values only, no record of calls.
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_graph.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/device/detail/cuda_staging.hpp>
#include <distribute/device/detail/cuda_stream.hpp>
#include <distribute/device/detail/kernel_text.hpp>

#include "support/gpu_contract.hpp"

#include "../support/catch.hpp"

using namespace distribute;
using testing::ContractGpu;

namespace {

const Device kGpu{DeviceType::Gpu, 0};
const Device kSecond{DeviceType::Gpu, 1};

DISTRIBUTE_KERNEL_TEXT(
    kAddArguments, struct AddArguments {
      float* x;
      float number;
      int64_t count;
      int64_t rounds;
    };)
constexpr char kAdd[] = R"(
KERNEL(add, AddArguments) {
  for (int64_t i = first_index(); i < p.count; i += index_step())
    for (int64_t round = 0; round < p.rounds; ++round) p.x[i] = p.x[i] + p.number;
}
)";

/// x += number, `rounds` times.
void add(const Buffer& x, float number, int64_t rounds = 1) {
  const int64_t count = x.bytes() / 4;
  const AddArguments arguments{static_cast<float*>(x.data()), number, count, rounds};
  launch_kernel(kGpu, {kAdd, "add", kAddArguments}, launch_for(count), arguments);
}

std::vector<float> numbers(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

/// These numbers on a GPU.
struct Sent : Buffer {
  explicit Sent(const std::vector<float>& values, Device device = kGpu)
      : Buffer(int64_t(values.size() * 4), device) {
    copy_bytes(data(), device, values.data(), Device{}, bytes());
  }
};

std::vector<float> fetched(const Buffer& buffer, Device device = kGpu) {
  std::vector<float> values(size_t(buffer.bytes() / 4));
  copy_bytes(values.data(), Device{}, buffer.data(), device, buffer.bytes());
  return values;
}

}  // namespace

TEST_CASE("bytes of any size and place travel to a GPU and back", "[device][gpu_contract]") {
  const ContractGpu gpu;
  for (const int64_t count :
       {int64_t{1}, int64_t{3}, int64_t{1000}, int64_t{40'000}, int64_t{1} << 20}) {
    const std::vector<float> values = numbers(count);
    CHECK(fetched(Sent(values)) == values);
  }
  const std::vector<float> values = numbers(100);
  const Sent buffer(values);
  float middle[3] = {};
  copy_bytes(middle, Device{}, static_cast<const float*>(buffer.data()) + 7, kGpu, 12);
  CHECK(std::vector<float>(middle, middle + 3) == std::vector<float>{8, 9, 10});
}

TEST_CASE("host memory may change as soon as it was copied to a GPU", "[device][gpu_contract]") {
  const ContractGpu gpu;
  for (const int64_t count : {int64_t{4}, int64_t{1} << 20}) {
    std::vector<float> values = numbers(count);
    const Sent busy(values);
    add(busy, 1, 200);  // the stream is not idle
    const Sent buffer(values);
    std::fill(values.begin(), values.end(), -1.0f);
    CHECK(fetched(buffer) == numbers(count));
  }
}

TEST_CASE("elements of every width are filled", "[device][gpu_contract]") {
  const ContractGpu gpu;
  const uint64_t pattern = 0x0102030405060708;
  for (const int64_t width : {1, 2, 4, 8}) {
    const int64_t count = 37;
    const Buffer buffer(width * count, kGpu);
    fill_elements(buffer.data(), kGpu, width, pattern, count);
    std::vector<unsigned char> bytes(size_t(width * count));
    copy_bytes(bytes.data(), Device{}, buffer.data(), kGpu, width * count);
    for (size_t i = 0; i < bytes.size(); ++i) REQUIRE(int(bytes[i]) == 8 - int(i % size_t(width)));
  }
}

TEST_CASE("a stream runs on after an event of another", "[device][gpu_contract]") {
  const ContractGpu gpu;
  const Sent buffer(std::vector<float>(1000, 0.0f));
  add(buffer, 1, 500);
  const CudaStream other(kGpu);
  other.ref().wait(current_stream(kGpu));
  {
    const CudaStreamScope scope(other);
    add(buffer, 1000);
  }
  current_stream(kGpu).wait(other);
  CHECK(fetched(buffer) == std::vector<float>(1000, 1500.0f));
}

TEST_CASE("events tell what is done and how long it took", "[device][gpu_contract]") {
  const ContractGpu gpu;
  const Sent buffer(std::vector<float>(10'000, 0.0f));
  const CudaStreamRef stream = current_stream(kGpu);
  const CudaEvent start(kGpu, true), end(kGpu, true);
  start.record(stream);
  add(buffer, 1, 10);
  end.record(stream);
  end.ref().synchronize();
  CHECK(end.ref().is_done());
  CHECK(stream.is_done());
  CHECK(end.ref().elapsed_ms(start) >= 0);
}

TEST_CASE("page-locked memory goes both ways in the stream's order", "[device][gpu_contract]") {
  const ContractGpu gpu;
  StagingMemory memory(kGpu);
  const Buffer buffer(4096, kGpu);
  for (int round = 1; round <= 3; ++round) {
    const auto block = memory.take(4096);
    auto* const host = reinterpret_cast<float*>(block->data());
    std::fill(host, host + 1024, float(round));
    block->send(0, 4096, buffer.data(), kGpu);
    add(buffer, 0.5f);
    const auto back = memory.take(4096);
    back->fetch(buffer.data(), kGpu, 0, 4096);
    back->synchronize();
    float value = 0;
    std::memcpy(&value, back->data() + 4092, 4);
    CHECK(value == float(round) + 0.5f);
  }
}

TEST_CASE("a block that is used again is not written too early", "[device][gpu_contract]") {
  const ContractGpu gpu;
  const Sent result(std::vector<float>(5000, 0.0f));
  {
    const Sent source(std::vector<float>(5000, 3.0f));
    add(source, 1, 500);
    copy_bytes(result.data(), kGpu, source.data(), kGpu, result.bytes());
  }
  const Buffer next(result.bytes(), kGpu);  // most likely the same block
  fill_elements(next.data(), kGpu, 4, 0, 5000);
  CHECK(fetched(result) == std::vector<float>(5000, 503.0f));
}

TEST_CASE("memory of a pool and of the device are counted and given back",
          "[device][gpu_contract]") {
  const ContractGpu gpu;
  const MemoryInfo before = memory_info(kGpu);
  {
    const auto pool = make_gpu_pool(kGpu);
    const GpuPoolScope scope(pool);
    const Buffer one(1 << 20, kGpu), two(3 << 20, kGpu);
    CHECK(memory_info(kGpu).current >= before.current + (4 << 20));
  }
  CHECK(memory_info(kGpu).current == before.current);
  release_cached_memory(kGpu);
  CHECK(memory_info(kGpu).cached == 0);
}

TEST_CASE("more memory than there is names what was wanted", "[device][gpu_contract]") {
  const ContractGpu gpu;
  const int64_t all = gpu_info(kGpu).memory_bytes;
  CHECK_THROWS_AS(Buffer(2 * all, kGpu), ResourceExhaustedError);
  CHECK(fetched(Sent(numbers(10))) == numbers(10));  // and the device goes on
}

TEST_CASE("recorded work is what plain work is, launch after launch", "[device][gpu_contract]") {
  const ContractGpu gpu;
  const Sent buffer(std::vector<float>(300, 0.0f));
  add(buffer, 0);  // loads the kernel
  const CudaGraph graph = CudaGraph::capture(kGpu, [&] {
    const Buffer between(buffer.bytes(), kGpu);
    copy_bytes(between.data(), kGpu, buffer.data(), kGpu, buffer.bytes());
    add(between, 2);
    copy_bytes(buffer.data(), kGpu, between.data(), kGpu, buffer.bytes());
  });
  CHECK(fetched(buffer) == std::vector<float>(300, 0.0f));
  for (int i = 0; i < 3; ++i) graph.launch();
  add(buffer, 100);
  CHECK(fetched(buffer) == std::vector<float>(300, 106.0f));
}

TEST_CASE("what cannot be recorded is an error, and the device goes on", "[device][gpu_contract]") {
  const ContractGpu gpu;
  const Sent buffer(numbers(10));
  float value = 0;
  CHECK_THROWS_AS(
      CudaGraph::capture(kGpu,
                         [&] { copy_bytes(&value, Device{}, buffer.data(), kGpu, sizeof value); }),
      FailedPreconditionError);
  CHECK(fetched(buffer) == numbers(10));
}

TEST_CASE("logical GPUs give each other their values", "[device][gpu_contract]") {
  const ContractGpu gpu;
  gpu.want_logical(2);
  const Sent first(std::vector<float>(2000, 1.0f));
  add(first, 1, 300);
  const Buffer second(first.bytes(), kSecond);
  copy_bytes(second.data(), kSecond, first.data(), kGpu, first.bytes());
  add(first, 1, 300);  // after the copy, though in another stream
  CHECK(fetched(second, kSecond) == std::vector<float>(2000, 301.0f));
  CHECK(fetched(first) == std::vector<float>(2000, 601.0f));
}

TEST_CASE("threads use a GPU side by side", "[device][gpu_contract]") {
  const ContractGpu gpu;
  gpu.want_logical(2);
  std::vector<float> results[2];
  {
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([t, &results] {
        const Device device{DeviceType::Gpu, t};
        for (int round = 0; round < 20; ++round) {
          const Sent buffer(numbers(1000), device);
          results[t] = fetched(buffer, device);
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
  for (const auto& result : results) CHECK(result == numbers(1000));
}
