// Streams, memory and kernels against the fake driver; what only a real GPU shows is in
// scripts/gpu_check.sh.
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_library.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/device/detail/cuda_state.hpp>
#include <distribute/device/detail/cuda_stream.hpp>
#include <distribute/device/detail/kernel_text.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/tensor/tensor.hpp>

#include "../support/catch.hpp"
#include "../support/fake_cuda.hpp"
#include "../support/temporary_directory.hpp"

#include <initializer_list>

using namespace distribute;
using testing::FakeCuda;

namespace {
const Device kGpu{DeviceType::Gpu, 0};
const Device kSecond{DeviceType::Gpu, 1};

DISTRIBUTE_KERNEL_TEXT(
    kCubeArguments, struct CubeArguments {
      const float* x;
      float* y;
      int64_t count;
    };)
constexpr char kCube[] = R"(
KERNEL(cube, CubeArguments) {
  for (int64_t i = first_index(); i < p.count; i += index_step()) p.y[i] = p.x[i] * p.x[i] * p.x[i];
}
struct SumArguments { const float* x; float* y; };
KERNEL(sum_block, SumArguments) {
  p.y[blockIdx.x * blockDim.x + threadIdx.x] =
      join_block(p.x[threadIdx.x] + blockIdx.x, [](float a, float b) { return a + b; });
}
)";
void check_says(const std::exception& error, std::initializer_list<const char*> words) {
  INFO(error.what());
  for (const char* word : words) CHECK(std::string(error.what()).find(word) != std::string::npos);
}
}  // namespace

TEST_CASE("without a GPU the reason is told", "[device][cuda]") {
  if (!physical_gpus().empty()) return;
  CHECK_FALSE(gpu_problem().empty());
  CHECK_THROWS_AS(gpu_info(kGpu), InvalidArgumentError);
  CHECK_THROWS_AS(cuda_driver(), FailedPreconditionError);
}

TEST_CASE("tensors travel to a GPU and back", "[device][cuda]") {
  FakeCuda fake({.gpus = 2});
  REQUIRE(physical_gpus().size() == 2);
  CHECK(gpu_info(kSecond).name == "Fake GPU");
  const Tensor x{1.0f, 2.0f, 3.0f};
  const Tensor y = x.to(kGpu), z = y.to(kSecond);
  CHECK(y.device() == kGpu);
  CHECK(z.device() == kSecond);
  CHECK(z.to_vector() == x.to_vector());
  CHECK(z.to(Device{}).to_vector() == x.to_vector());
  CHECK(fake.count("cuMemcpyPeerAsync") == 1);
  CHECK(fake.count("cuCtxEnablePeerAccess") == 1);
  // Both streams wait: the copy for its source, the source's owner for the copy.
  CHECK(fake.count("cuStreamWaitEvent") == 2);
}

TEST_CASE("new tensors of a scope are on its GPU, numbers stay on the host", "[device][cuda]") {
  FakeCuda fake;
  const DeviceScope scope(kGpu);
  const Tensor ones = distribute::ones({3}, DType::Int64);
  CHECK(ones.device() == kGpu);
  CHECK(ones.to_vector() == std::vector<float>{1, 1, 1});
  CHECK(fill({2}, 0.5f, DType::BFloat16).to_vector() == std::vector<float>{0.5f, 0.5f});
  CHECK(fill({3}, 0x1p33, DType::Int64).to_vector() == std::vector<float>(3, 0x1p33f));
  CHECK(Tensor(2.0f).device() == Device{});
}

TEST_CASE("the host may not write into memory of a GPU", "[device][cuda]") {
  FakeCuda fake;
  Tensor x = Tensor::empty({4}, DType::Float32, kGpu);
  CHECK_THROWS_AS(x.mutable_data<float>(), InternalError);
}

TEST_CASE("freed blocks of a GPU are used again", "[device][cuda]") {
  FakeCuda fake;
  for (int i = 0; i < 5; ++i) Buffer(1000, kGpu);
  CHECK(fake.count("cuMemAlloc") == 1);
  const auto info = memory_info(kGpu);
  CHECK(info.current == 0);
  CHECK(info.cached == fake.allocated_bytes());
  CHECK(info.peak == info.cached);
  release_cached_memory(kGpu);
  CHECK(fake.allocated_bytes() == 0);
  CHECK(memory_info(kGpu).cached == 0);
}

TEST_CASE("blocks of a pool stay with it", "[device][cuda]") {
  FakeCuda fake;
  const auto pool = make_gpu_pool(kGpu);
  {
    const GpuPoolScope scope(pool);
    Buffer(1000, kGpu);
  }
  Buffer(1000, kGpu);
  CHECK(fake.count("cuMemAlloc") == 2);
  const GpuPoolScope scope(pool);
  Buffer(1000, kGpu);
  CHECK(fake.count("cuMemAlloc") == 2);
}

TEST_CASE("a full GPU gives its cache back, then names the largest blocks", "[device][cuda]") {
  FakeCuda fake({.memory_bytes = 1 << 20});
  { const Buffer cached(600 << 10, kGpu); }
  const Buffer kept(700 << 10, kGpu);
  CHECK(fake.count("cuMemFree") == 1);
  try {
    const Buffer more(700 << 10, kGpu);
    FAIL("there is no room for both");
  } catch (const ResourceExhaustedError& error) {
    check_says(error, {"cuMemAlloc", "/device:GPU:0", "largest blocks have 786432 bytes"});
  }
}

TEST_CASE("a full GPU takes what its other logical GPUs have cached", "[device][cuda]") {
  FakeCuda fake({.memory_bytes = 1 << 20});
  set_logical_gpus({{0, 0}, {0, 0}});
  { const Buffer cached(700 << 10, kSecond); }
  CHECK(memory_info(kSecond).cached > 0);
  CHECK_NOTHROW(Buffer(700 << 10, kGpu));
  CHECK(memory_info(kSecond).cached == 0);
}

TEST_CASE("of a large block at most a sixteenth lies idle", "[device][cuda]") {
  FakeCuda fake;
  for (int64_t bytes = (1 << 20) + 1; bytes < (300 << 20); bytes = bytes * 9 / 8) {
    const int64_t before = memory_info(kGpu).current;
    const Buffer buffer(bytes, kGpu);
    const int64_t block = memory_info(kGpu).current - before;
    CHECK(block >= bytes);
    CHECK(double(block) <= double(bytes) * 1.0626);
  }
}

TEST_CASE("with exact memory every buffer is a block of its own size", "[device][cuda]") {
  ::setenv("DISTRIBUTE_CUDA_EXACT_MEMORY", "1", 1);
  FakeCuda fake;
  ::unsetenv("DISTRIBUTE_CUDA_EXACT_MEMORY");
  {
    const Buffer one(1001, kGpu);
    CHECK(fake.allocated_bytes() == 1001);
  }
  CHECK(fake.allocated_bytes() == 0);
  CHECK(memory_info(kGpu).cached == 0);
  const Buffer two(1001, kGpu);
  CHECK(fake.count("cuMemAlloc") == 2);
  CHECK(fake.count("cuMemFree") == 1);
}

TEST_CASE("memory of GPUs grows, and another wish is refused", "[device][cuda]") {
  namespace experimental = config::experimental;
  FakeCuda fake;
  const auto gpu = config::list_physical_devices("GPU").at(0);
  CHECK_NOTHROW(experimental::set_memory_growth(gpu, true));
  CHECK(experimental::get_memory_growth(gpu));
  CHECK_THROWS_AS(experimental::set_memory_growth(gpu, false), UnimplementedError);
  const auto cpu = config::list_physical_devices("CPU").at(0);
  CHECK_THROWS_AS(experimental::set_memory_growth(cpu, true), InvalidArgumentError);
  CHECK_THROWS_AS(experimental::get_memory_growth({"/physical_device:GPU:7", "GPU"}),
                  InvalidArgumentError);
}

TEST_CASE("logical GPUs share a GPU and its limit", "[device][cuda]") {
  FakeCuda fake;
  set_logical_gpus({{0, 1 << 20}, {0, 0}, {0, 0}});
  CHECK_THROWS_AS(set_logical_gpus({{1, 0}}), InvalidArgumentError);
  CHECK_THROWS_AS(Buffer(2 << 20, kGpu), ResourceExhaustedError);
  CHECK_NOTHROW(Buffer(2 << 20, kSecond));
  CHECK_FALSE(current_stream(kGpu) == current_stream(kSecond));
  CHECK_THROWS_AS(set_logical_gpus({{0, 0}}), FailedPreconditionError);
  const Tensor x = Tensor{1.0f, 2.0f}.to(kGpu).to(kSecond);
  CHECK(x.to_vector() == std::vector<float>{1, 2});
  CHECK(fake.count("cuMemcpyPeerAsync") == 0);
  CHECK(fake.count("cuMemcpyDtoDAsync") == 1);
}

TEST_CASE("errors of the driver name call, device and sizes", "[device][cuda]") {
  FakeCuda fake;
  const Tensor x{1.0f, 2.0f};
  fake.fail_next("cuMemcpyHtoDAsync", 700);
  try {
    x.to(kGpu);
    FAIL("the copy failed");
  } catch (const InternalError& error) {
    check_says(error, {"cuMemcpyHtoDAsync", "8 bytes", "/device:GPU:0", "earlier kernel"});
  }
}

TEST_CASE("streams wait for events and for each other", "[device][cuda]") {
  FakeCuda fake;
  const CudaStream stream(kGpu);
  CudaEvent event(kGpu);
  event.record(stream);
  stream.ref().wait(event);
  {
    const CudaStreamScope scope(stream);
    CHECK(current_stream(kGpu) == stream.ref());
    current_stream(kGpu).wait(communication_stream(kGpu));
  }
  CHECK_FALSE(current_stream(kGpu) == stream.ref());
  CHECK(fake.count("cuStreamWaitEvent") == 2);
  CudaEvent moved = std::move(event);
  CHECK(moved.ref().is_done());
  CHECK(fake.count("cuEventDestroy") == 1);  // the one between the streams
}

TEST_CASE("a kernel is compiled once and run for all elements", "[device][cuda]") {
  FakeCuda fake;
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 0.0f);
  const Tensor x = Tensor({1000}, values).to(kGpu);
  const Tensor y = Tensor::empty({1000}, x.dtype(), kGpu);
  const KernelName kernel{kCube, "cube", kCubeArguments};
  const CubeArguments arguments{x.array().data<float>(), y.array().data<float>(), 1000};
  for (int i = 0; i < 3; ++i) launch_kernel(kGpu, kernel, launch_for(1000), arguments);
  CHECK(fake.count("nvrtcCompileProgram") == 1);
  CHECK(fake.count("launch cube") == 3);
  for (int64_t i = 0; i < 1000; ++i)
    CHECK(y.data<float>()[size_t(i)] == float(i) * float(i) * float(i));
}

TEST_CASE("kernels that are part of the program are not compiled", "[device][cuda]") {
  namespace internal = device_internal;
  const KernelName kernel{kCube, "cube", kCubeArguments};
  const std::string file = kernel_file(kernel_text(kernel), 90);
  const std::string code = "machine code";
  const internal::EmbeddedKernel kernels[] = {{"0", nullptr, nullptr},
                                              {file, code.data(), code.data() + code.size()},
                                              {"g", nullptr, nullptr}};
  const auto compiled_for = [&](int capability) {
    FakeCuda fake({.capability = capability, .runs_kernels = false});
    internal::gpu_state().embedded = kernels;
    for (const char* function : {"cube", "cube", "sum_block"})
      launch_kernel(kGpu, {kCube, function, kCubeArguments}, {}, CubeArguments{});
    CHECK(fake.count("launch cube") == 2);
    CHECK(fake.count("cuModuleLoadData") == 1);
    return fake.count("nvrtcCompileProgram");
  };
  CHECK(compiled_for(90) == 0);
  CHECK(compiled_for(80) == 1);
}

TEST_CASE("threads of a block meet at barriers", "[device][cuda]") {
  FakeCuda fake;
  std::vector<float> values(256);
  std::iota(values.begin(), values.end(), 0.0f);
  const Tensor x = Tensor({256}, values).to(kGpu);
  const Tensor y = Tensor::empty({512}, x.dtype(), kGpu);
  const struct {
    const float* x;
    float* y;
  } arguments{x.array().data<float>(), y.array().data<float>()};
  launch_kernel(kGpu, {kCube, "sum_block", kCubeArguments}, {.grid_x = 2}, arguments);
  CHECK(y.to_vector() == [] {
    std::vector<float> sums(512, 255 * 128.0f);
    std::fill(sums.begin() + 256, sums.end(), 255 * 128.0f + 256);
    return sums;
  }());
}

TEST_CASE("a GPU newer than the compiler gets PTX", "[device][cuda]") {
  FakeCuda fake({.capability = 110});  // the fake's compiler knows GPUs up to 100
  const Tensor x = Tensor{2.0f, 3.0f}.to(kGpu);
  const Tensor y = Tensor::empty({2}, x.dtype(), kGpu);
  const struct {
    const float* x;
    float* y;
    int64_t count = 2;
  } arguments{x.array().data<float>(), y.array().data<float>()};
  launch_kernel(kGpu, {kCube, "cube", kCubeArguments}, {}, arguments);
  CHECK(y.to_vector() == std::vector<float>{8, 27});
  CHECK(fake.count("nvrtcGetPTX") == 1);
}

TEST_CASE("libraries of a later CUDA than the driver's are not tried", "[device][cuda]") {
  using Names = std::vector<const char*>;
  const Names all = {"libx.so.13", "libx.so.12", "libx.so"};
  CHECK(files_for_driver(all, 0) == all);
  CHECK(files_for_driver(all, 13000) == all);
  CHECK(files_for_driver(all, 12080) == Names{all[1], all[2]});
  CHECK(files_for_driver(all, 14010) == all);  // drivers run what is older
}

#if DISTRIBUTE_HAS_CUDA
TEST_CASE("a library's companions of the same folder are opened before it", "[device][cuda]") {
  // It asks for its companion by name when it is loaded, as NVRTC does for its builtins.
  const TemporaryDirectory folder;
  const auto library = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / "text.cpp") << text;
    const std::string line = "c++ -shared -fPIC -Wl,-soname," + name + " -o '" + folder / name +
                             "' '" + folder / "text.cpp" + "'";
    REQUIRE(std::system(line.c_str()) == 0);
  };
  library("libtest-companion.so.1", "");
  library("libtest.so.1", R"(#include <dlfcn.h>
    extern "C" int found;
    int found = dlopen("libtest-companion.so.1", RTLD_NOW) != nullptr;)");
  ::setenv("DISTRIBUTE_CUDA_LIBRARY_PATH", folder.path().c_str(), 1);
  std::string problem;
  void* const opened = open_cuda_library(
      {.what = "test", .files = {"libtest.so.1"}, .companions = "libtest-companion.so."}, problem);
  ::unsetenv("DISTRIBUTE_CUDA_LIBRARY_PATH");
  CHECK(problem == "");
  REQUIRE(opened);
  const void* const found = cuda_symbol(opened, "found");
  REQUIRE(found);
  CHECK(*static_cast<const int*>(found) == 1);
  CHECK(cuda_library_file(found) == folder / "libtest.so.1");
}
#endif

TEST_CASE("NVRTC compiles the prelude for every architecture", "[device][cuda]") {
  CudaCompiler compiler;
  const std::string problem = load_cuda_compiler(compiler);
  if (!problem.empty()) {
    WARN("skipped: " << problem);
    return;
  }
  for (int capability : {80, 86, 90, 100}) {
    const std::string text = kernel_text({kCube, "cube", kCubeArguments});
    CHECK_FALSE(compile_kernels(compiler, text, "cube.cu", capability).empty());
    CHECK_THROWS_AS(compile_kernels(compiler, text + "?", "cube.cu", capability), InternalError);
  }
}
