#include "fake_order.hpp"

#include "fake_capture.hpp"
#include "fake_cuda.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <dlfcn.h>

namespace distribute::testing {

namespace {

using Clock = std::map<CudaHandle, int64_t>;  // work of each stream that is done
constexpr CudaResult kInvalidValue = 1, kInvalidContext = 201, kInvalidHandle = 400,
                     kLaunchFailed = 719;

void join(Clock& clock, const Clock& other) {
  for (const auto& [stream, time] : other) clock[stream] = std::max(clock[stream], time);
}

struct Access {
  const char *begin, *end;
  bool writes;
  CudaHandle stream;
  int64_t time;
  std::string what;

  bool overlaps(const Access& other) const { return begin < other.end && other.begin < end; }
  bool holds(const Access& other) const { return begin <= other.begin && other.end <= end; }
};

struct Block {
  size_t bytes;
  CudaHandle context;
  std::vector<Access> accesses;
};

using Ranges = std::vector<FakeRange>;

/// A stream or an event.
struct Place {
  CudaHandle context;
  Clock clock;
  std::shared_ptr<Ranges> recording = nullptr;  // of the capture it takes part in: what that uses
};

struct Watch {
  std::recursive_mutex mutex;  // guards everything
  CudaDriver driver;
  Clock host;
  std::map<CudaHandle, Place> streams, events;
  std::map<CudaHandle, std::shared_ptr<Ranges>> graphs, executables;
  std::map<const char*, Block> blocks;
  std::map<const char*, size_t> pinned;
  std::map<CudaHandle, unsigned long> argument_bytes;  // by kernel
  std::vector<std::function<void()>> copies;           // that are under way
};
Watch* watch = nullptr;
thread_local std::vector<CudaHandle> current;

using Lock = std::lock_guard<std::recursive_mutex>;

CudaResult refuse(CudaResult result, const std::string& why) {
  std::fprintf(stderr, "fake cuda: %s\n", why.c_str());
  return result;
}

CudaHandle context() { return current.empty() ? nullptr : current.back(); }

Block* block_at(const void* place) {
  const char* at = static_cast<const char*>(place);
  auto found = watch->blocks.upper_bound(at);
  if (found == watch->blocks.begin()) return nullptr;
  --found;
  return at < found->first + found->second.bytes ? &found->second : nullptr;
}

std::string describe(const Access& access) {
  char text[64];
  std::snprintf(text, sizeof text, " on stream %p ", access.stream);
  return access.what + text + (access.writes ? "writes" : "reads");
}

/// Notes that the work of `access` uses the block.
CudaResult use(Block& block, const Access& access, const Clock& clock) {
  for (const Access& other : block.accesses) {
    const auto known = clock.find(other.stream);
    const bool before = known != clock.end() && other.time <= known->second;
    if (before || !other.overlaps(access) || !(other.writes || access.writes)) continue;
    return refuse(kLaunchFailed, describe(access) + " memory that " + describe(other) +
                                     ", and nothing orders the two");
  }
  std::erase_if(block.accesses, [&](const Access& other) {
    const bool replaced = access.writes || (!other.writes && other.stream == access.stream);
    return replaced && access.holds(other);
  });
  block.accesses.push_back(access);
  return kCudaSuccess;
}

bool records(CudaHandle stream) {
  int status = 0;
  watch->driver.cuStreamIsCapturing(stream, &status);
  return status != 0;
}

constexpr size_t kSome = 16;  // bytes of a range whose size is not known

CudaResult work(CudaHandle stream, const std::string& what, std::span<const FakeRange> ranges) {
  const auto found = watch->streams.find(stream);
  if (found == watch->streams.end()) return refuse(kInvalidHandle, what + " on no stream");
  Place& place = found->second;
  if (place.context != context())
    return refuse(kInvalidHandle, what + " on a stream of a GPU that is not current");
  if (records(stream)) {  // nothing happens yet
    place.recording->insert(place.recording->end(), ranges.begin(), ranges.end());
    return kCudaSuccess;
  }
  join(place.clock, watch->host);
  const int64_t time = ++place.clock[stream];
  for (const FakeRange& range : ranges) {
    Block* block = block_at(range.begin);
    if (!block) continue;
    const char* begin = static_cast<const char*>(range.begin);
    const Access access{
        begin, begin + (range.bytes ? range.bytes : kSome), range.writes, stream, time, what};
    if (const CudaResult result = use(*block, access, place.clock)) return result;
  }
  return kCudaSuccess;
}

CudaResult in_device(CudaAddress address, size_t bytes, const char* what) {
  const char* at = reinterpret_cast<const char*>(uintptr_t(address));
  const Block* block = block_at(at);
  const bool whole = block && (bytes == 0 || block_at(at + bytes - 1) == block);
  return whole ? kCudaSuccess : refuse(kInvalidValue, std::string(what) + " outside of memory");
}

FakeRange range(CudaAddress address, size_t bytes, bool writes) {
  return {reinterpret_cast<const void*>(uintptr_t(address)), bytes, writes};
}

/// A copy between or in GPUs, or between one and the host, where `other` is 0.
CudaResult copy(const char* what, CudaAddress to, CudaAddress from, size_t bytes,
                CudaHandle stream) {
  watch_copies();
  std::vector<FakeRange> ranges;
  if (to) ranges.push_back(range(to, bytes, true));
  if (from) ranges.push_back(range(from, bytes, false));
  for (const CudaAddress end : {to, from})
    if (end)
      if (const CudaResult result = in_device(end, bytes, what)) return result;
  return work(stream, what, ranges);
}

CudaResult fill(CudaAddress to, size_t bytes, CudaHandle stream) {
  return copy("a fill", to, 0, bytes, stream);
}

CudaResult copy_from_host(CudaAddress to, const void* from, size_t bytes, CudaHandle stream) {
  const Lock lock(watch->mutex);
  if (const CudaResult result = copy("a copy from the host", to, 0, bytes, stream)) return result;
  const char* at = static_cast<const char*>(from);
  auto memory = watch->pinned.upper_bound(at);
  const bool is_pinned =
      memory != watch->pinned.begin() && at < std::prev(memory)->first + std::prev(memory)->second;
  const CudaResult result = watch->driver.cuMemcpyHtoDAsync(to, from, bytes, stream);
  if (result || !is_pinned || records(stream)) return result;
  watch->copies.push_back([=] {  // once more: what lies there when it must
    FakeCuda::with_memory(
        [=] { std::memcpy(reinterpret_cast<void*>(uintptr_t(to)), from, bytes); });
  });
  return kCudaSuccess;
}

/// Pointers among the kernel's arguments, as places that it reads.
std::vector<FakeRange> pointers_of(CudaHandle function, void** parameters) {
  std::vector<FakeRange> ranges;
  const auto bytes = watch->argument_bytes.find(function);
  if (bytes == watch->argument_bytes.end()) return ranges;
  for (size_t at = 0; at + sizeof(void*) <= bytes->second; at += sizeof(void*)) {
    const void* place;
    std::memcpy(&place, static_cast<const char*>(parameters[0]) + at, sizeof place);
    if (block_at(place)) ranges.push_back({place, 0, false});
  }
  return ranges;
}

/// What lies at the beginning of each range.
std::vector<std::string> beginnings(std::span<const FakeRange> ranges) {
  std::vector<std::string> all;
  for (const FakeRange& one : ranges) {
    const auto block = std::prev(watch->blocks.upper_bound(static_cast<const char*>(one.begin)));
    const char* at = static_cast<const char*>(one.begin);
    all.emplace_back(at, std::min(kSome, size_t(block->first + block->second.bytes - at)));
  }
  return all;
}

/// Runs a kernel; gives those of `ranges` that it has changed.
CudaResult run(std::span<const FakeRange> ranges, std::vector<FakeRange>& changed,
               const std::function<CudaResult()>& kernel) {
  CudaResult result = kCudaSuccess;
  FakeCuda::with_memory([&] {
    const auto before = beginnings(ranges);
    result = kernel();
    const auto after = beginnings(ranges);
    for (size_t i = 0; i < ranges.size(); ++i)
      if (before[i] != after[i]) changed.push_back({ranges[i].begin, 0, true});
  });
  return result;
}

CudaResult launch(CudaHandle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                  unsigned by, unsigned bz, unsigned shared, CudaHandle stream, void** parameters,
                  void** extra) {
  const Lock lock(watch->mutex);
  watch_copies();
  if (gx > 0x7fffffffu || gy > 65535 || gz > 65535 || bx * by * bz > 1024)
    return refuse(kInvalidValue, "a launch of more blocks or threads than a GPU takes");
  const std::vector<FakeRange> ranges = pointers_of(function, parameters);
  for (const FakeRange& one : ranges)
    if (block_at(one.begin)->context != context())
      return refuse(kLaunchFailed, "a kernel that reaches into another GPU's memory");
  if (const CudaResult result = work(stream, "a kernel", ranges)) return result;
  std::vector<FakeRange> changed;
  const CudaResult result = run(ranges, changed, [&] {
    return watch->driver.cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream,
                                        parameters, extra);
  });
  return result ? result : work(stream, "a kernel", changed);
}

CudaResult with_context(const char* name, const std::function<CudaResult()>& call);

/// Counts as one piece of work. Within a graph its streams are in order: the fake's captures see to
/// that as far as they join.
CudaResult launch_graph(CudaHandle graph, CudaHandle stream) {
  Ranges ranges, changed;
  CudaResult result = with_context("cuGraphLaunch", [&] {
    watch_copies();
    if (const auto found = watch->executables.find(graph); found != watch->executables.end())
      std::copy_if(found->second->begin(), found->second->end(), std::back_inserter(ranges),
                   [](const FakeRange& one) { return block_at(one.begin) != nullptr; });
    if (const CudaResult refused = work(stream, "a graph", ranges)) return refused;
    return run(ranges, changed, [&] { return watch->driver.cuGraphLaunch(graph, stream); });
  });
  while (result == kFakeSuspended) {  // other GPUs' threads go on meanwhile
    std::this_thread::yield();
    result = with_context("cuGraphLaunch", [&] {
      return run(ranges, changed, [&] { return FakeCuda::resume_graph(graph); });
    });
  }
  if (result) return result;
  return with_context("cuGraphLaunch", [&] { return work(stream, "a graph", changed); });
}

CudaResult get_function(CudaHandle* function, CudaHandle module, const char* name) {
  const CudaResult result = watch->driver.cuModuleGetFunction(function, module, name);
  if (result || reinterpret_cast<uintptr_t>(module) < 0x100000) return result;  // nothing to run
  const Lock lock(watch->mutex);
  const auto* bytes =
      static_cast<unsigned long*>(dlsym(module, (std::string(name) + "_bytes").c_str()));
  if (bytes) watch->argument_bytes[*function] = *bytes;
  return result;
}

CudaResult allocate(CudaAddress* address, size_t bytes) {
  const Lock lock(watch->mutex);
  const CudaResult result = watch->driver.cuMemAlloc(address, bytes);
  if (!result)
    watch->blocks[reinterpret_cast<const char*>(uintptr_t(*address))] = {bytes, context(), {}};
  return result;
}

/// The host has seen everything that the current GPU was given.
void host_sees_gpu() {
  for (const auto& [handle, stream] : watch->streams)
    if (stream.context == context()) join(watch->host, stream.clock);
}

CudaResult release(CudaAddress address) {
  const Lock lock(watch->mutex);
  watch_copies();
  host_sees_gpu();
  watch->blocks.erase(reinterpret_cast<const char*>(uintptr_t(address)));
  return watch->driver.cuMemFree(address);
}

/// A call about a stream or an event that may be made with any context, but not without one.
CudaResult with_context(const char* name, const std::function<CudaResult()>& call) {
  const Lock lock(watch->mutex);
  if (!context()) return refuse(kInvalidContext, std::string(name) + " without a context");
  return call();
}

CudaResult record(CudaHandle event, CudaHandle stream) {
  return with_context("cuEventRecord", [&] {
    Place& at = watch->streams[stream];
    if (at.context != watch->events[event].context)
      return refuse(kInvalidHandle, "an event is recorded on another GPU's stream");
    join(at.clock, watch->host);
    watch->events[event].clock = at.clock;
    watch->events[event].recording = records(stream) ? at.recording : nullptr;
    return watch->driver.cuEventRecord(event, stream);
  });
}

/// The driver's answer; when it is that all is done, the host has seen it.
CudaResult look(const char* name, std::map<CudaHandle, Place>& places, CudaHandle handle,
                CudaResult (*call)(CudaHandle)) {
  return with_context(name, [&] {
    watch_copies();
    const CudaResult result = call(handle);
    if (!result) join(watch->host, places[handle].clock);
    return result;
  });
}

void watch_streams(CudaDriver& d) {
  d.cuStreamCreateWithPriority = [](CudaHandle* stream, unsigned flags, int priority) {
    return with_context("cuStreamCreate", [&] {
      const CudaResult result = watch->driver.cuStreamCreateWithPriority(stream, flags, priority);
      if (!result) watch->streams[*stream] = {context(), {}};
      return result;
    });
  };
  d.cuStreamDestroy = [](CudaHandle stream) {
    return with_context("cuStreamDestroy", [&] { return watch->driver.cuStreamDestroy(stream); });
  };
  d.cuStreamSynchronize = [](CudaHandle stream) {
    return look("cuStreamSynchronize", watch->streams, stream, watch->driver.cuStreamSynchronize);
  };
  d.cuStreamQuery = [](CudaHandle stream) {
    return look("cuStreamQuery", watch->streams, stream, watch->driver.cuStreamQuery);
  };
  d.cuStreamWaitEvent = [](CudaHandle stream, CudaHandle event, unsigned flags) {
    return with_context("cuStreamWaitEvent", [&] {
      Place& at = watch->streams[stream];
      const Place& by = watch->events[event];
      join(at.clock, by.clock);
      const CudaResult result = watch->driver.cuStreamWaitEvent(stream, event, flags);
      if (by.recording && records(stream)) at.recording = by.recording;
      return result;
    });
  };
  d.cuEventCreate = [](CudaHandle* event, unsigned flags) {
    return with_context("cuEventCreate", [&] {
      const CudaResult result = watch->driver.cuEventCreate(event, flags);
      if (!result) watch->events[*event] = {context(), {}};
      return result;
    });
  };
  d.cuEventDestroy = [](CudaHandle event) {
    return with_context("cuEventDestroy", [&] { return watch->driver.cuEventDestroy(event); });
  };
  d.cuEventRecord = record;
  d.cuEventQuery = [](CudaHandle event) {
    return look("cuEventQuery", watch->events, event, watch->driver.cuEventQuery);
  };
  d.cuEventSynchronize = [](CudaHandle event) {
    return look("cuEventSynchronize", watch->events, event, watch->driver.cuEventSynchronize);
  };
}

void watch_graphs(CudaDriver& d) {
  d.cuStreamBeginCapture = [](CudaHandle stream, int mode) {
    return with_context("cuStreamBeginCapture", [&] {
      const CudaResult result = watch->driver.cuStreamBeginCapture(stream, mode);
      if (!result) watch->streams[stream].recording = std::make_shared<Ranges>();
      return result;
    });
  };
  d.cuStreamEndCapture = [](CudaHandle stream, CudaHandle* graph) {
    return with_context("cuStreamEndCapture", [&] {
      const CudaResult result = watch->driver.cuStreamEndCapture(stream, graph);
      if (!result) watch->graphs[*graph] = watch->streams[stream].recording;
      return result;
    });
  };
  d.cuGraphInstantiateWithFlags = [](CudaHandle* executable, CudaHandle graph,
                                     unsigned long long flags) {
    return with_context("cuGraphInstantiate", [&] {
      const CudaResult result = watch->driver.cuGraphInstantiateWithFlags(executable, graph, flags);
      if (!result) watch->executables[*executable] = watch->graphs[graph];
      return result;
    });
  };
  d.cuGraphLaunch = [](CudaHandle graph, CudaHandle stream) { return launch_graph(graph, stream); };
}

void watch_copying(CudaDriver& d) {
  d.cuMemcpyHtoDAsync = copy_from_host;
  d.cuMemcpyDtoHAsync = [](void* to, CudaAddress from, size_t bytes, CudaHandle stream) {
    const Lock lock(watch->mutex);
    const CudaResult result = copy("a copy to the host", 0, from, bytes, stream);
    return result ? result : watch->driver.cuMemcpyDtoHAsync(to, from, bytes, stream);
  };
  d.cuMemcpyDtoDAsync = [](CudaAddress to, CudaAddress from, size_t bytes, CudaHandle stream) {
    const Lock lock(watch->mutex);
    const CudaResult result = copy("a copy", to, from, bytes, stream);
    return result ? result : watch->driver.cuMemcpyDtoDAsync(to, from, bytes, stream);
  };
  d.cuMemcpyPeerAsync = [](CudaAddress to, CudaHandle to_gpu, CudaAddress from, CudaHandle from_gpu,
                           size_t bytes, CudaHandle stream) {
    const Lock lock(watch->mutex);
    const CudaResult result = copy("a copy between GPUs", to, from, bytes, stream);
    return result ? result
                  : watch->driver.cuMemcpyPeerAsync(to, to_gpu, from, from_gpu, bytes, stream);
  };
  d.cuMemsetD8Async = [](CudaAddress to, unsigned char value, size_t count, CudaHandle stream) {
    const Lock lock(watch->mutex);
    const CudaResult result = fill(to, count, stream);
    return result ? result : watch->driver.cuMemsetD8Async(to, value, count, stream);
  };
  d.cuMemsetD16Async = [](CudaAddress to, unsigned short value, size_t count, CudaHandle stream) {
    const Lock lock(watch->mutex);
    const CudaResult result = fill(to, 2 * count, stream);
    return result ? result : watch->driver.cuMemsetD16Async(to, value, count, stream);
  };
  d.cuMemsetD32Async = [](CudaAddress to, unsigned value, size_t count, CudaHandle stream) {
    const Lock lock(watch->mutex);
    const CudaResult result = fill(to, 4 * count, stream);
    return result ? result : watch->driver.cuMemsetD32Async(to, value, count, stream);
  };
  d.cuMemsetD2D32Async = [](CudaAddress to, size_t pitch, unsigned value, size_t width,
                            size_t height, CudaHandle stream) {
    const Lock lock(watch->mutex);
    const CudaResult result = fill(to, pitch * (height - 1) + 4 * width, stream);
    return result ? result
                  : watch->driver.cuMemsetD2D32Async(to, pitch, value, width, height, stream);
  };
}

}  // namespace

void watch_copies() {
  const Lock lock(watch->mutex);
  for (const auto& copy : std::exchange(watch->copies, {})) copy();
}

bool watch_work(CudaHandle stream, const std::string& what, std::span<const FakeRange> ranges) {
  const Lock lock(watch->mutex);
  watch_copies();
  return work(stream, what, ranges) == kCudaSuccess;
}

void watch_meeting(std::span<const CudaHandle> streams) {
  const Lock lock(watch->mutex);
  Clock all;
  for (const CudaHandle stream : streams) join(all, watch->streams[stream].clock);
  for (const CudaHandle stream : streams) join(watch->streams[stream].clock, all);
}

CudaDriver watched(const CudaDriver& driver) {
  watch = new Watch;  // stays: tensors may outlive the fake
  watch->driver = driver;
  CudaDriver d = driver;
  d.cuCtxPushCurrent = [](CudaHandle gpu) {
    current.push_back(gpu);
    return watch->driver.cuCtxPushCurrent(gpu);
  };
  d.cuCtxPopCurrent = [](CudaHandle* gpu) {
    current.pop_back();
    return watch->driver.cuCtxPopCurrent(gpu);
  };
  d.cuCtxSynchronize = [] {
    return with_context("cuCtxSynchronize", [] {
      watch_copies();
      host_sees_gpu();
      return watch->driver.cuCtxSynchronize();
    });
  };
  d.cuMemAlloc = allocate;
  d.cuMemFree = release;
  d.cuMemHostAlloc = [](void** data, size_t bytes, unsigned flags) {
    const Lock lock(watch->mutex);
    const CudaResult result = watch->driver.cuMemHostAlloc(data, bytes, flags);
    if (!result) watch->pinned[static_cast<const char*>(*data)] = bytes;
    return result;
  };
  d.cuMemFreeHost = [](void* data) {
    const Lock lock(watch->mutex);
    watch_copies();
    watch->pinned.erase(static_cast<const char*>(data));
    return watch->driver.cuMemFreeHost(data);
  };
  d.cuModuleGetFunction = get_function;
  d.cuLaunchKernel = launch;
  watch_graphs(d);
  watch_streams(d);
  watch_copying(d);
  return d;
}

}  // namespace distribute::testing
