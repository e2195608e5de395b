// What the fake driver finds of mistakes that show only where streams and threads really run beside
// each other.
#include <distribute/base/error.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_graph.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/device/detail/cuda_state.hpp>
#include <distribute/device/detail/cuda_stream.hpp>
#include <distribute/tensor/tensor.hpp>

#include "../support/catch.hpp"
#include "../support/fake_cuda.hpp"

using namespace distribute;
using testing::FakeCuda;

namespace {

const Device kGpu{DeviceType::Gpu, 0};
const Device kSecond{DeviceType::Gpu, 1};

struct Arguments {
  const float* x;
  float* y;
};
constexpr char kText[] = R"(
struct Arguments { const float* x; float* y; };
KERNEL(no_barrier, Arguments) {
  __shared__ float lanes[256];
  lanes[threadIdx.x] = p.x[threadIdx.x];
  p.y[threadIdx.x] = lanes[255 - threadIdx.x];
}
KERNEL(turned, Arguments) {
  __shared__ float lanes[256];
  lanes[threadIdx.x] = p.x[threadIdx.x];
  __syncthreads();
  p.y[threadIdx.x] = lanes[255 - threadIdx.x];
}
KERNEL(next_lane, Arguments) {
  float value = p.x[threadIdx.x];
  for (int i = 0; i < 3; ++i) value = __shfl_down_sync(0xffffffffu, value, 1);
  p.y[threadIdx.x] = value;
}
KERNEL(divergent, Arguments) {
  if (threadIdx.x < 16) __syncthreads();
  p.y[threadIdx.x] = __shfl_down_sync(0xffffffffu, p.x[threadIdx.x], 1);
}
KERNEL(sum_twice, Arguments) {
  const auto plus = [](float a, float b) { return a + b; };
  const float sum = join_block(p.x[threadIdx.x], plus);
  p.y[threadIdx.x] = sum - join_block(p.x[threadIdx.x] + 1, plus);
}
)";

Tensor counted() {
  std::vector<float> values(256);
  std::iota(values.begin(), values.end(), 0.0f);
  return Tensor({256}, values).to(kGpu);
}

void launch(const char* function, const Tensor& x, const Tensor& y, const LaunchShape& shape = {}) {
  launch_kernel(kGpu, {kText, function}, shape,
                Arguments{x.array().data<float>(), y.array().data<float>()});
}

std::vector<float> result_of(const char* function) {
  const Tensor x = counted(), y = Tensor::empty({256}, DType::Float32, kGpu);
  launch(function, x, y);
  return y.to_vector();
}

void fill(const Buffer& buffer) {
  fill_elements(buffer.data(), buffer.device(), 4, 0, buffer.bytes() / 4);
}

}  // namespace

TEST_CASE("work on two streams that nothing orders is refused", "[device][cuda]") {
  const FakeCuda fake;
  const Buffer block(1024, kGpu);
  const CudaStream other(kGpu);
  fill(block);
  const CudaStreamScope scope(other);
  CHECK_THROWS_AS(fill(block), InternalError);
  other.ref().wait(communication_stream(kGpu));  // not the one that wrote
  CHECK_THROWS_AS(fill(block), InternalError);
  synchronize(kGpu);
  CHECK_NOTHROW(fill(block));
}

TEST_CASE("a graph is work of the stream that launches it", "[device][cuda]") {
  const FakeCuda fake;
  const Buffer filled(1024, kGpu);
  const Tensor x = counted(), y = counted(), other_y = counted();
  launch("turned", x, other_y);  // compiled before
  const CudaGraph graph = CudaGraph::capture(kGpu, [&] {
    fill(filled);
    launch("turned", x, y);
  });
  fill(filled);  // a recording uses nothing
  synchronize(kGpu);
  graph.launch();
  const CudaStream other(kGpu);
  {
    const CudaStreamScope scope(other);
    CHECK_THROWS_AS(fill(filled), InternalError);
    CHECK_THROWS_AS(launch("turned", y, other_y), InternalError);
    CHECK_THROWS_AS(graph.launch(), InternalError);
    other.ref().wait(communication_stream(kGpu));  // not the one that launched
    CHECK_THROWS_AS(fill(filled), InternalError);
  }
  other.ref().wait(current_stream(kGpu));
  const CudaStreamScope scope(other);
  CHECK_NOTHROW(fill(filled));
  CHECK_NOTHROW(graph.launch());
}

TEST_CASE("streams that wait for each other may share memory", "[device][cuda]") {
  const FakeCuda fake;
  const Buffer block(1024, kGpu);
  const CudaStream other(kGpu);
  fill(block);
  other.ref().wait(current_stream(kGpu));
  {
    const CudaStreamScope scope(other);
    CHECK_NOTHROW(fill(block));
  }
  CHECK_THROWS_AS(fill(block), InternalError);  // the way back
  current_stream(kGpu).wait(other);
  CHECK_NOTHROW(fill(block));
}

TEST_CASE("parts of a block are apart, reading together is allowed", "[device][cuda]") {
  const FakeCuda fake;
  const Buffer block(1024, kGpu), copy(512, kGpu), copied(512, kGpu);
  char* const half = static_cast<char*>(block.data()) + 512;
  fill(block);
  const CudaStream other(kGpu);
  other.ref().wait(current_stream(kGpu));
  copy_bytes(copy.data(), kGpu, half, kGpu, 512);
  fill_elements(block.data(), kGpu, 1, 0, 512);
  const CudaStreamScope scope(other);
  CHECK_NOTHROW(copy_bytes(copied.data(), kGpu, half, kGpu, 512));
  CHECK_THROWS_AS(fill_elements(half, kGpu, 1, 0, 512), InternalError);
}

TEST_CASE("freed memory may be used on the compute stream alone", "[device][cuda]") {
  const FakeCuda fake;
  fill(Buffer(1024, kGpu));
  const Buffer again(1024, kGpu);
  CHECK_NOTHROW(fill(again));
  const CudaStream other(kGpu);
  const CudaStreamScope scope(other);
  CHECK_THROWS_AS(fill(again), InternalError);
}

TEST_CASE("a kernel's pointers count as memory that it uses", "[device][cuda]") {
  const FakeCuda fake({.gpus = 2});
  const Tensor x = counted(), y = Tensor::empty({256}, DType::Float32, kGpu);
  const Tensor far = Tensor::empty({256}, DType::Float32, kSecond);
  CHECK_NOTHROW(launch("turned", x, y));
  CHECK_THROWS_AS(launch("turned", x, far), InternalError);
  CHECK_THROWS_AS(launch("turned", x, y, {.grid_y = 65536}), InternalError);
  const CudaStream other(kGpu);
  const CudaStreamScope scope(other);
  CHECK_THROWS_AS(launch("turned", x, y), InternalError);
}

TEST_CASE("streams want their own GPU to be current", "[device][cuda]") {
  const FakeCuda fake({.gpus = 2});
  const CudaEvent event(kSecond);
  CHECK_THROWS_AS(event.record(current_stream(kGpu)), InternalError);
  CHECK_NOTHROW(event.record(current_stream(kSecond)));
  CHECK(cuda_driver().cuEventQuery(event.ref().native()) != kCudaSuccess);  // none is current
  CHECK(event.ref().is_done());
}

TEST_CASE("page-locked memory is read late", "[device][cuda]") {
  const FakeCuda fake;
  const PinnedBuffer pinned(8, kGpu);
  auto* const values = static_cast<float*>(pinned.data());
  const Tensor x = Tensor::empty({2}, DType::Float32, kGpu);
  const auto send = [&](float value) {
    values[0] = values[1] = value;
    copy_pinned(x.array().bytes(), kGpu, values, 8);
  };
  send(1);
  values[1] = 5;  // too early
  CHECK(Tensor(x.shape(), x.dtype(), x.array()).to_vector() == std::vector<float>{1, 5});
  send(2);
  synchronize(kGpu);
  values[1] = 5;
  CHECK(Tensor(x.shape(), x.dtype(), x.array()).to_vector() == std::vector<float>{2, 2});
}

TEST_CASE("memory that the GPU reads by itself is put aside, or waited for", "[device][cuda]") {
  for (const bool reads_pageable : {false, true}) {
    const FakeCuda fake({.reads_pageable = reads_pageable});
    std::vector<float> values{1, 2};
    Buffer buffer(8, kGpu);
    copy_bytes(buffer.data(), kGpu, values.data(), Device{}, 8);
    values = {3, 4};
    CHECK(fake.count("cuStreamSynchronize") == 0);
    CHECK(fake.count("cuMemHostAlloc") == (reads_pageable ? 1 : 0));
    copy_bytes(values.data(), Device{}, buffer.data(), kGpu, 8);
    CHECK(values == std::vector<float>{1, 2});
    const int waits = fake.count("cuStreamSynchronize");
    const Tensor large = zeros({600'000}).to(kGpu);
    CHECK(fake.count("cuStreamSynchronize") == waits + (reads_pageable ? 1 : 0));
  }
}

namespace {
std::atomic<bool> loads, launched_elsewhere;
CudaResult (*load_module)(CudaHandle*, const void*);

/// The first GPU's driver waits, as for a collective that has not met the second GPU's.
CudaResult load_late(CudaHandle* module, const void* image) {
  using std::chrono::steady_clock;
  const auto deadline = steady_clock::now() + std::chrono::seconds(20);
  if (!loads.exchange(true))
    while (!launched_elsewhere && steady_clock::now() < deadline) std::this_thread::yield();
  return load_module(module, image);
}
}  // namespace

TEST_CASE("loading a kernel keeps no other GPU waiting", "[device][cuda]") {
  const FakeCuda fake({.gpus = 2, .runs_kernels = false});
  loads = launched_elsewhere = false;
  load_module = std::exchange(device_internal::gpu_state().driver.cuModuleLoadData, load_late);
  std::thread first([] { launch_kernel(kGpu, {kText, "turned"}, {}, Arguments{}); });
  while (!loads) std::this_thread::yield();
  launch_kernel(kSecond, {kText, "turned"}, {}, Arguments{});
  launched_elsewhere = true;
  first.join();
  CHECK(fake.count("launch turned") == 2);
}

TEST_CASE("a missing barrier shows, threads of a warp exchange values", "[device][cuda]") {
  const FakeCuda fake;
  std::vector<float> turned(256), next(256);
  for (size_t i = 0; i < 256; ++i) {
    turned[i] = float(255 - i);
    next[i] = float(std::min(i + 3, i / 32 * 32 + 31));  // the last lane keeps its own
  }
  CHECK(result_of("turned") == turned);
  CHECK(result_of("no_barrier") != turned);
  CHECK(result_of("next_lane") == next);
  CHECK(result_of("sum_twice") == std::vector<float>(256, -256.0f));
  CHECK_THROWS_AS(result_of("divergent"), InternalError);
}
