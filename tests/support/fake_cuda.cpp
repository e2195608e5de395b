#include "fake_cuda.hpp"

#include "fake_block.hpp"
#include "fake_capture.hpp"
#include "fake_order.hpp"
#include "host_library.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <stdexcept>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace distribute::testing {

namespace {

/// Address space whose pages can be touched only while the "device" works: a host loop that runs
/// over device memory crashes here as it would with a real GPU.
class Arena {
 public:
  Arena() {
    void* base =
        mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) throw std::runtime_error("no address space for the fake GPU");
    base_ = static_cast<char*>(base);
  }
  void* take(size_t bytes) {
    const size_t size = (bytes + 511) / 512 * 512;
    auto& free = free_[size];
    if (free.empty()) {
      if (used_ + size > kSize) return nullptr;
      used_ += size;
      return base_ + used_ - size;
    }
    void* data = free.back();
    free.pop_back();
    return data;
  }
  bool contains(const void* data) const {
    return data >= base_ && static_cast<const char*>(data) < base_ + used_;
  }
  void give(void* data, size_t bytes) { free_[(bytes + 511) / 512 * 512].push_back(data); }
  void open(bool opened) {
    depth_ += opened ? 1 : -1;
    if (used_ && depth_ == (opened ? 1 : 0))
      mprotect(base_, (used_ + 4095) / 4096 * 4096, opened ? PROT_READ | PROT_WRITE : PROT_NONE);
  }

 private:
  static constexpr size_t kSize = size_t{4} << 30;
  char* base_ = nullptr;
  size_t used_ = 0;
  int depth_ = 0;
  std::map<size_t, std::vector<void*>> free_;
};

struct Program {
  std::string text, log, object;
};

}  // namespace

struct FakeCuda::State {
  FakeCudaOptions options;
  mutable std::recursive_mutex mutex;  // guards everything
  std::vector<std::string> calls, programs;
  std::map<std::string, CudaResult> failures;
  struct Block {
    size_t bytes;
    uint64_t number;  // no other block has had it
  };
  std::map<void*, Block> blocks;
  uint64_t next_block = 0;
  FakeCaptures captures;
  Arena arena;
  int64_t allocated = 0;
  std::map<int, int64_t> allocated_on;
  std::map<void*, int> owner;
  std::vector<std::unique_ptr<HostKernel>> kernels;
  int next_handle = 0;

  CudaResult record(const std::string& call) {
    std::lock_guard lock(mutex);
    calls.push_back(call);
    const auto found = failures.find(call);
    if (found == failures.end()) return kCudaSuccess;
    const CudaResult result = found->second;
    failures.erase(found);
    return result;
  }
  CudaHandle handle() {
    std::lock_guard lock(mutex);
    return reinterpret_cast<CudaHandle>(uintptr_t(0x1000 + 16 * ++next_handle));
  }
};

namespace {

FakeCuda::State* fake = nullptr;
thread_local std::vector<CudaHandle> contexts;

CudaHandle context_of(int device) { return reinterpret_cast<CudaHandle>(uintptr_t(device + 1)); }
int current_gpu() {
  return contexts.empty() ? -1 : int(reinterpret_cast<uintptr_t>(contexts.back())) - 1;
}
void* pointer(CudaAddress address) { return reinterpret_cast<void*>(uintptr_t(address)); }

/// A driver's function that needs a current context.
CudaResult in_context(const char* call) {
  constexpr CudaResult kInvalidContext = 201;
  const CudaResult result = fake->record(call);
  return result ? result : current_gpu() < 0 ? kInvalidContext : kCudaSuccess;
}

/// Device memory may be touched while it lives.
struct DeviceWork {
  DeviceWork() : lock(fake->mutex) { fake->arena.open(true); }
  ~DeviceWork() { fake->arena.open(false); }
  std::lock_guard<std::recursive_mutex> lock;
};

/// The number of the block that holds an address; 0: none does.
uint64_t block_of(const void* data) {
  auto found = fake->blocks.upper_bound(const_cast<void*>(data));
  if (found == fake->blocks.begin()) return 0;
  --found;
  const char* begin = static_cast<const char*>(found->first);
  return static_cast<const char*>(data) < begin + found->second.bytes ? found->second.number : 0;
}

/// Runs work on a stream, or records it. Recorded work fails when memory that it was given at
/// `places` is not what it was.
CudaResult on_stream(CudaHandle stream, std::vector<const void*> places,
                     std::function<CudaResult()> work) {
  const std::lock_guard lock(fake->mutex);
  std::vector<std::pair<const void*, uint64_t>> used;
  if (fake->captures.is_capturing(stream))
    for (const void* place : places)
      if (fake->arena.contains(place)) used.push_back({place, block_of(place)});
  return fake->captures.submit(stream, [used, work = std::move(work)] {
    for (const auto& [place, number] : used)
      if (number == 0 || block_of(place) != number) return kFakeIllegalAddress;
    const DeviceWork opened;
    return work();
  });
}

CudaResult copy(const char* call, void* to, const void* from, size_t bytes, CudaHandle stream) {
  if (const CudaResult result = in_context(call)) return result;
  return on_stream(stream, {to, from}, [=] { return std::memmove(to, from, bytes), kCudaSuccess; });
}

template <typename T>
CudaResult set(CudaAddress to, T value, size_t count, CudaHandle stream) {
  if (const CudaResult result = in_context("cuMemsetAsync")) return result;
  return on_stream(stream, {pointer(to)}, [=] {
    return std::fill_n(static_cast<T*>(pointer(to)), count, value), kCudaSuccess;
  });
}

/// A call that a capture may forbid.
CudaResult unsafe_call(const char* call) {
  if (const CudaResult result = in_context(call)) return result;
  const std::lock_guard lock(fake->mutex);
  return fake->captures.unsafe_call();
}

CudaResult allocate(CudaAddress* address, size_t bytes) {
  if (const CudaResult result = unsafe_call("cuMemAlloc")) return result;
  std::lock_guard lock(fake->mutex);
  int64_t& used = fake->allocated_on[current_gpu()];
  if (used + int64_t(bytes) > fake->options.memory_bytes) return kCudaOutOfMemory;
  void* data = fake->arena.take(bytes);
  if (!data) return kCudaOutOfMemory;
  {
    const DeviceWork work;
    std::memset(data, 0xa5, bytes);  // what was never written shows
  }
  fake->blocks[data] = {bytes, ++fake->next_block};
  fake->owner[data] = current_gpu();
  used += int64_t(bytes);
  fake->allocated += int64_t(bytes);
  *address = CudaAddress(reinterpret_cast<uintptr_t>(data));
  return kCudaSuccess;
}

CudaResult release(CudaAddress address) {
  if (const CudaResult result = unsafe_call("cuMemFree")) return result;
  std::lock_guard lock(fake->mutex);
  const auto found = fake->blocks.find(pointer(address));
  if (found == fake->blocks.end()) return 1;
  const size_t bytes = found->second.bytes;
  fake->allocated -= int64_t(bytes);
  fake->allocated_on[fake->owner[found->first]] -= int64_t(bytes);
  fake->arena.give(found->first, bytes);
  fake->blocks.erase(found);
  return kCudaSuccess;
}

CudaResult attribute(int* value, int which, int) {
  const int capability = fake->options.capability;
  *value = which == 75 ? capability / 10 : which == 76 ? capability % 10 : which == 16 ? 4 : 0;
  if (which == 88) *value = fake->options.reads_pageable;
  return kCudaSuccess;
}

CudaResult load_module(CudaHandle* module, const void* image) {
  if (const CudaResult result = unsafe_call("cuModuleLoadData")) return result;
  if (!fake->options.runs_kernels) return *module = fake->handle(), kCudaSuccess;
  *module = dlopen(static_cast<const char*>(image), RTLD_NOW | RTLD_LOCAL);
  if (!*module) std::fprintf(stderr, "fake cuda: %s\n", dlerror());
  return *module ? kCudaSuccess : 200;
}

template <typename T>
void find(T& target, void* library, const char* name) {
  target = reinterpret_cast<T>(dlsym(library, name));
}

CudaResult get_function(CudaHandle* function, CudaHandle module, const char* name) {
  if (const CudaResult result = fake->record("cuModuleGetFunction")) return result;
  auto kernel = std::make_unique<HostKernel>();
  kernel->name = name;
  if (fake->options.runs_kernels) {
    find(kernel->run, module, name);
    find(kernel->thread, module, "threadIdx");
    find(kernel->block, module, "blockIdx");
    find(kernel->block_size, module, "blockDim");
    find(kernel->grid, module, "gridDim");
    find(kernel->barrier, module, "host_barrier");
    find(kernel->shuffle, module, "host_shuffle");
    find(kernel->argument_bytes, module, (std::string(name) + "_bytes").c_str());
    if (!kernel->run || !kernel->barrier || !kernel->shuffle || !kernel->argument_bytes) return 500;
  }
  std::lock_guard lock(fake->mutex);
  *function = fake->kernels.emplace_back(std::move(kernel)).get();
  return kCudaSuccess;
}

CudaResult run_kernel(const HostKernel& kernel, HostIndex grid, unsigned threads,
                      const void* arguments) {
  *kernel.block_size = {threads, 1, 1};
  *kernel.grid = grid;
  *kernel.thread = {0, 0, 0};
  BlockRunner runner(kernel, arguments, threads);
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        *kernel.block = {x, y, z};
        if (!runner.run()) return 719;
      }
  return kCudaSuccess;
}

CudaResult launch(CudaHandle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                  unsigned by, unsigned bz, unsigned, CudaHandle stream, void** parameters,
                  void**) {
  const auto& kernel = *static_cast<HostKernel*>(function);
  if (const CudaResult result = in_context(("launch " + kernel.name).c_str())) return result;
  if (!stream || by != 1 || bz != 1 || bx == 0 || bx > 1024 || !gx || !gy || !gz || gy > 65535)
    return 1;
  if (!fake->options.runs_kernels) return on_stream(stream, {}, [] { return kCudaSuccess; });
  // The driver copies the parameters when it is called.
  const size_t words = (*kernel.argument_bytes + 7) / 8;
  std::vector<const void*> arguments(words);
  std::memcpy(arguments.data(), parameters[0], *kernel.argument_bytes);
  return on_stream(stream, arguments, [=, &kernel] {
    return run_kernel(kernel, {gx, gy, gz}, bx, arguments.data());
  });
}

CudaResult compile(CudaHandle handle, int, const char* const*) {
  Program& program = *static_cast<Program*>(handle);
  std::lock_guard lock(fake->mutex);
  fake->calls.push_back("nvrtcCompileProgram");
  if (!fake->options.runs_kernels) return program.object = "code", kCudaSuccess;
  const HostLibrary library(program.text);
  if (!library.is_there() && !library.make(program.log)) return 6;
  return program.object = library.path(), kCudaSuccess;
}

CudaResult make_handle(CudaHandle* result, const char* call) {
  if (const CudaResult failure = fake->record(call)) return failure;
  *result = fake->handle();
  return kCudaSuccess;
}

/// A call that captures have a say in, by one of their functions.
template <typename Function, typename... Arguments>
CudaResult in_captures(const char* name, Function function, const Arguments&... arguments) {
  if (const CudaResult failure = fake->record(name)) return failure;
  const std::lock_guard lock(fake->mutex);
  return std::invoke(function, fake->captures, arguments...);
}

CudaDriver fake_driver() {
  CudaDriver d;
  d.cuInit = [](unsigned) { return fake->record("cuInit"); };
  d.cuDriverGetVersion = [](int* version) { return *version = 13000, kCudaSuccess; };
  d.cuGetErrorName = [](CudaResult result, const char** name) {
    *name = result == kCudaOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
    return kCudaSuccess;
  };
  d.cuGetErrorString = [](CudaResult, const char** text) { return *text = "fake", kCudaSuccess; };
  d.cuDeviceGetCount = [](int* count) { return *count = fake->options.gpus, kCudaSuccess; };
  d.cuDeviceGet = [](int* device, int number) { return *device = number, kCudaSuccess; };
  d.cuDeviceGetName = [](char* name, int size, int) {
    std::snprintf(name, size_t(size), "Fake GPU");
    return kCudaSuccess;
  };
  d.cuDeviceGetAttribute = attribute;
  d.cuDeviceTotalMem = [](size_t* bytes, int) {
    *bytes = size_t(fake->options.memory_bytes);
    return kCudaSuccess;
  };
  d.cuDeviceGetPCIBusId = [](char* id, int size, int device) {
    std::snprintf(id, size_t(size), "0000:%02x:00.0", unsigned(device));
    return kCudaSuccess;
  };
  d.cuDevicePrimaryCtxRetain = [](CudaHandle* context, int device) {
    *context = context_of(device);
    return fake->record("cuDevicePrimaryCtxRetain");
  };
  d.cuDeviceCanAccessPeer = [](int* can, int, int) { return *can = 1, kCudaSuccess; };
  d.cuCtxPushCurrent = [](CudaHandle context) { return contexts.push_back(context), kCudaSuccess; };
  d.cuCtxPopCurrent = [](CudaHandle* context) {
    *context = contexts.back();
    contexts.pop_back();
    return kCudaSuccess;
  };
  d.cuCtxSynchronize = [] {
    if (const CudaResult result = in_context("cuCtxSynchronize")) return result;
    const std::lock_guard lock(fake->mutex);
    return fake->captures.look_at_all();
  };
  d.cuCtxEnablePeerAccess = [](CudaHandle, unsigned) {
    return in_context("cuCtxEnablePeerAccess");
  };
  d.cuMemGetInfo = [](size_t* free, size_t* total) {
    std::lock_guard lock(fake->mutex);
    *total = size_t(fake->options.memory_bytes);
    *free = *total - size_t(fake->allocated_on[current_gpu()]);
    return kCudaSuccess;
  };
  d.cuMemAlloc = allocate;
  d.cuMemFree = release;
  d.cuMemHostAlloc = [](void** data, size_t bytes, unsigned) {
    *data = std::malloc(bytes);
    return unsafe_call("cuMemHostAlloc");
  };
  d.cuMemFreeHost = [](void* data) { return std::free(data), fake->record("cuMemFreeHost"); };
  d.cuMemcpyHtoDAsync = [](CudaAddress to, const void* from, size_t bytes, CudaHandle stream) {
    return copy("cuMemcpyHtoDAsync", pointer(to), from, bytes, stream);
  };
  d.cuMemcpyDtoHAsync = [](void* to, CudaAddress from, size_t bytes, CudaHandle stream) {
    return copy("cuMemcpyDtoHAsync", to, pointer(from), bytes, stream);
  };
  d.cuMemcpyDtoDAsync = [](CudaAddress to, CudaAddress from, size_t bytes, CudaHandle stream) {
    return copy("cuMemcpyDtoDAsync", pointer(to), pointer(from), bytes, stream);
  };
  d.cuMemcpyPeerAsync = [](CudaAddress to, CudaHandle, CudaAddress from, CudaHandle, size_t bytes,
                           CudaHandle stream) {
    return copy("cuMemcpyPeerAsync", pointer(to), pointer(from), bytes, stream);
  };
  d.cuMemsetD8Async = [](CudaAddress to, unsigned char value, size_t count, CudaHandle stream) {
    return set(to, value, count, stream);
  };
  d.cuMemsetD16Async = [](CudaAddress to, unsigned short value, size_t count, CudaHandle stream) {
    return set(to, value, count, stream);
  };
  d.cuMemsetD32Async = [](CudaAddress to, unsigned value, size_t count, CudaHandle stream) {
    return set(to, value, count, stream);
  };
  d.cuMemsetD2D32Async = [](CudaAddress to, size_t pitch, unsigned value, size_t width,
                            size_t height, CudaHandle stream) {
    CudaResult result = kCudaSuccess;
    for (size_t row = 0; row < height && result == kCudaSuccess; ++row)
      result = set(to + row * pitch, value, width, stream);
    return result;
  };
  d.cuStreamCreateWithPriority = [](CudaHandle* stream, unsigned, int) {
    return make_handle(stream, "cuStreamCreate");
  };
  d.cuStreamDestroy = [](CudaHandle stream) {
    return in_captures("cuStreamDestroy", [=](FakeCaptures& captures) {
      return captures.drop_stream(stream), kCudaSuccess;
    });
  };
  d.cuStreamSynchronize = [](CudaHandle stream) {
    return in_captures("cuStreamSynchronize", &FakeCaptures::look_at_stream, stream);
  };
  d.cuStreamQuery = [](CudaHandle stream) {
    return in_captures("cuStreamQuery", &FakeCaptures::look_at_stream, stream);
  };
  d.cuStreamWaitEvent = [](CudaHandle stream, CudaHandle event, unsigned) {
    return in_captures("cuStreamWaitEvent", &FakeCaptures::wait_event, stream, event);
  };
  d.cuEventCreate = [](CudaHandle* event, unsigned) { return make_handle(event, "cuEventCreate"); };
  d.cuEventDestroy = [](CudaHandle event) {
    return in_captures("cuEventDestroy", [=](FakeCaptures& captures) {
      return captures.drop_event(event), kCudaSuccess;
    });
  };
  d.cuEventRecord = [](CudaHandle event, CudaHandle stream) {
    return in_captures("cuEventRecord", &FakeCaptures::record_event, event, stream);
  };
  d.cuEventQuery = [](CudaHandle event) {
    return in_captures("cuEventQuery", &FakeCaptures::look_at_event, event);
  };
  d.cuEventSynchronize = [](CudaHandle event) {
    return in_captures("cuEventSynchronize", &FakeCaptures::look_at_event, event);
  };
  d.cuEventElapsedTime = [](float* ms, CudaHandle start, CudaHandle end) {
    *ms = 1;
    return in_captures("cuEventElapsedTime", [=](FakeCaptures& captures) {
      const CudaResult result = captures.look_at_event(start);
      return result ? result : captures.look_at_event(end);
    });
  };
  d.cuModuleLoadData = load_module;
  d.cuModuleUnload = [](CudaHandle) { return fake->record("cuModuleUnload"); };
  d.cuModuleGetFunction = get_function;
  d.cuLaunchKernel = launch;
  d.cuStreamBeginCapture = [](CudaHandle stream, int mode) {
    return in_captures("cuStreamBeginCapture", &FakeCaptures::begin, stream, mode);
  };
  d.cuStreamEndCapture = [](CudaHandle stream, CudaHandle* graph) {
    return in_captures("cuStreamEndCapture", &FakeCaptures::end, stream, graph, fake->handle());
  };
  d.cuStreamIsCapturing = [](CudaHandle stream, int* status) {
    const std::lock_guard lock(fake->mutex);
    return *status = fake->captures.status(stream), kCudaSuccess;
  };
  d.cuGraphInstantiateWithFlags = [](CudaHandle* executable, CudaHandle graph, unsigned long long) {
    return in_captures("cuGraphInstantiate", &FakeCaptures::instantiate, graph, fake->handle(),
                       executable);
  };
  d.cuGraphLaunch = [](CudaHandle executable, CudaHandle stream) {
    return in_captures("cuGraphLaunch", &FakeCaptures::launch, executable, stream);
  };
  d.cuGraphExecDestroy = [](CudaHandle executable) {
    return in_captures("cuGraphExecDestroy", &FakeCaptures::drop_executable, executable);
  };
  d.cuGraphDestroy = [](CudaHandle graph) {
    return in_captures("cuGraphDestroy", &FakeCaptures::drop_graph, graph);
  };
  return d;
}

CudaCompiler fake_compiler() {
  CudaCompiler c;
  c.nvrtcVersion = [](int* major, int* minor) { return *major = 13, *minor = 0, kCudaSuccess; };
  c.nvrtcGetErrorString = [](CudaResult) { return "NVRTC_ERROR_COMPILATION"; };
  c.nvrtcCreateProgram = [](CudaHandle* handle, const char* text, const char*, int,
                            const char* const*, const char* const*) {
    std::lock_guard lock(fake->mutex);
    fake->programs.push_back(text);
    *handle = new Program{text, {}, {}};
    return kCudaSuccess;
  };
  c.nvrtcCompileProgram = compile;
  c.nvrtcGetNumSupportedArchs = [](int* count) { return *count = 4, kCudaSuccess; };
  c.nvrtcGetSupportedArchs = [](int* all) {
    for (const int capability : {80, 86, 90, 100}) *all++ = capability;
    return kCudaSuccess;
  };
  c.nvrtcGetPTXSize = [](CudaHandle handle, size_t* size) {
    *size = static_cast<Program*>(handle)->object.size() + 1;
    return kCudaSuccess;
  };
  c.nvrtcGetPTX = [](CudaHandle handle, char* code) {
    std::strcpy(code, static_cast<Program*>(handle)->object.c_str());
    return fake->record("nvrtcGetPTX");
  };
  c.nvrtcGetCUBINSize = [](CudaHandle handle, size_t* size) {
    *size = static_cast<Program*>(handle)->object.size() + 1;
    return kCudaSuccess;
  };
  c.nvrtcGetCUBIN = [](CudaHandle handle, char* code) {
    std::strcpy(code, static_cast<Program*>(handle)->object.c_str());
    return kCudaSuccess;
  };
  c.nvrtcGetProgramLogSize = [](CudaHandle handle, size_t* size) {
    *size = static_cast<Program*>(handle)->log.size() + 1;
    return kCudaSuccess;
  };
  c.nvrtcGetProgramLog = [](CudaHandle handle, char* log) {
    std::strcpy(log, static_cast<Program*>(handle)->log.c_str());
    return kCudaSuccess;
  };
  c.nvrtcDestroyProgram = [](CudaHandle* handle) {
    delete static_cast<Program*>(*handle);
    *handle = nullptr;
    return kCudaSuccess;
  };
  return c;
}

}  // namespace

FakeCuda::FakeCuda(FakeCudaOptions options) : state_(std::make_unique<State>()) {
  state_->options = options;
  fake = state_.get();
  tables_ = std::make_unique<ScopedCudaTables>(watched(fake_driver()), fake_compiler());
}

FakeCuda::~FakeCuda() {
  tables_.reset();
  // Blocks and kernels stay: tensors may outlive the fake.
  fake = state_.release();
}

std::vector<std::string> FakeCuda::calls() const {
  std::lock_guard lock(state_->mutex);
  return state_->calls;
}
int FakeCuda::count(const std::string& call) const {
  const auto all = calls();
  return int(std::count(all.begin(), all.end(), call));
}
void FakeCuda::forget_calls() {
  std::lock_guard lock(state_->mutex);
  state_->calls.clear();
}
int64_t FakeCuda::allocated_bytes() const {
  std::lock_guard lock(state_->mutex);
  return state_->allocated;
}
std::vector<std::string> FakeCuda::programs() const {
  std::lock_guard lock(state_->mutex);
  return state_->programs;
}
void FakeCuda::fail_next(const std::string& call, CudaResult result) {
  std::lock_guard lock(state_->mutex);
  state_->failures[call] = result;
}

bool FakeCuda::on_stream(CudaHandle stream, std::vector<const void*> places,
                         std::function<void()> work) {
  std::vector<FakeRange> ranges;
  for (const void* place : places) ranges.push_back({place, 0, true});
  if (!watch_work(stream, "a library", ranges)) return false;
  const auto done = [work = std::move(work)] { return work(), kCudaSuccess; };
  return testing::on_stream(stream, std::move(places), done) == kCudaSuccess;
}

bool FakeCuda::on_capture(CudaHandle stream, std::vector<const void*> places,
                          std::function<bool()> is_done) {
  return ::distribute::testing::on_stream(stream, std::move(places),
                                          [is_done = std::move(is_done)] {
                                            return is_done() ? kCudaSuccess : kFakeSuspended;
                                          }) == kCudaSuccess;
}

bool FakeCuda::is_capturing(CudaHandle stream) {
  const std::lock_guard lock(fake->mutex);
  return fake->captures.is_capturing(stream);
}

CudaResult FakeCuda::resume_graph(CudaHandle executable) {
  const std::lock_guard lock(fake->mutex);
  return fake->captures.resume(executable);
}

void FakeCuda::with_memory(const std::function<void()>& work) {
  watch_copies();
  const DeviceWork opened;
  work();
}

}  // namespace distribute::testing
