#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_staging.hpp>
#include <distribute/device/detail/cuda_state.hpp>
#include <distribute/device/detail/cuda_stream.hpp>
#include <distribute/device/detail/transposed_filter_cache.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace distribute {

/// Free and used blocks of one pool. The lane's mutex guards it.
///
/// Invariants:
/// 1. A free block may still be read by work that was queued on the compute stream before; its next
///    user comes later in the same stream.
/// 2. Blocks in `held` belong to another pool and stay until the graph of this pool dies.
class GpuPool {
 public:
  explicit GpuPool(Device device) : device_(device) {}
  Device device() const { return device_; }

  std::unordered_map<int64_t, std::vector<void*>> free_blocks;
  // sizes of used blocks, for messages when memory runs out
  std::multiset<int64_t, std::greater<>> live;
  /// A block of another pool that was dropped in this pool's scope. The graph recorded there may
  /// use it as long as it lives.
  struct Held {
    std::shared_ptr<GpuPool> pool;
    void* data;
    int64_t bytes;
  };
  std::vector<Held> held;

 private:
  Device device_;
};

namespace device_internal {

int64_t size_class(int64_t bytes);  // buffer.ipp
void destroy_cuda(CudaResult (*destroy)(CudaHandle), CudaHandle native, Device device,
                  const char* call) noexcept;  // cuda_stream.ipp

DISTRIBUTE_INLINE std::shared_ptr<GpuPool>& pool_scope() {
  return base_internal::in_thread_context<base_internal::ContextPlace{1, 3},
                                          std::shared_ptr<GpuPool>>();
}

DISTRIBUTE_INLINE const std::shared_ptr<GpuPool>& common_pool(Device device, GpuLane& lane) {
  if (!lane.pool) lane.pool = make_gpu_pool(device);
  return lane.pool;
}

DISTRIBUTE_INLINE std::shared_ptr<GpuPool> pool_of(Device device, GpuLane& lane) {
  if (pool_scope() && pool_scope()->device() == device) return pool_scope();
  return common_pool(device, lane);
}

DISTRIBUTE_INLINE std::string memory_report(const GpuPool& pool, const MemoryInfo& info) {
  std::string text = str_cat(info.current, " bytes are in use (peak ", info.peak, "), ",
                             info.cached, " cached; the largest blocks have");
  int listed = 0;
  for (int64_t bytes : pool.live) {
    if (listed == 5) break;
    text += str_cat(listed++ ? ", " : " ", bytes);
  }
  return text + " bytes";
}

/// Returns all free blocks to the driver, which waits until nothing uses them.
DISTRIBUTE_INLINE void release_blocks(GpuPool& pool, MemoryInfo& info) {
  for (auto& [bytes, blocks] : pool.free_blocks)
    for (void* data : blocks) {
      check_cuda(cuda_driver().cuMemFree(cuda_address(data)), "cuMemFree", pool.device());
      info.cached -= bytes;
    }
  pool.free_blocks.clear();
}

/// Returns the caches of the card's other logical GPUs. It skips a lane that is allocating or
/// freeing at this moment, because two threads that wait for each other's lane would deadlock.
DISTRIBUTE_INLINE void release_neighbours(Device device) {
  GpuState& state = gpu_state();
  for (size_t i = 0; i < state.logical.size(); ++i) {
    const Device other{DeviceType::Gpu, int(i)};
    if (other == device || &gpu_info(other) != &gpu_info(device)) continue;
    GpuLane* lane = nullptr;
    {
      std::lock_guard lock(state.mutex);
      if (i < state.lanes.size()) lane = state.lanes[i].get();
    }
    if (!lane) continue;
    const std::unique_lock lock(lane->mutex, std::try_to_lock);
    if (lock && lane->pool) release_blocks(*lane->pool, lane->memory);
  }
}

/// Allocates memory. If memory is short, the device's cache returns its blocks, then its neighbours
/// on the same card do. A graph's pool keeps its blocks, as every launch uses them again.
DISTRIBUTE_INLINE void* take_from_driver(Device device, int64_t bytes, const GpuPool& pool,
                                         GpuLane& lane) {
  MemoryInfo& info = lane.memory;
  const int64_t limit = gpu_state().logical[size_t(device.index)].limit_bytes;
  const auto over = [&] { return limit && info.current + info.cached + bytes > limit; };
  CudaAddress address = 0;
  if (over()) release_blocks(*common_pool(device, lane), info);
  CudaResult result = kCudaOutOfMemory;
  if (!over()) result = cuda_driver().cuMemAlloc(&address, size_t(bytes));
  if (result == kCudaOutOfMemory && !over()) {
    release_blocks(*common_pool(device, lane), info);
    result = cuda_driver().cuMemAlloc(&address, size_t(bytes));
  }
  if (result == kCudaOutOfMemory && !over()) {
    release_neighbours(device);
    result = cuda_driver().cuMemAlloc(&address, size_t(bytes));
  }
  if (result != kCudaSuccess)
    check_cuda(
        result, "cuMemAlloc",
        str_cat(to_string(device), ", ", bytes, " bytes wanted, ",
                limit ? str_cat("the limit is ", limit, ", ") : "", memory_report(pool, info)));
  return reinterpret_cast<void*>(uintptr_t(address));
}

/// Rounds up to at least 512 bytes, an alignment that vector loads and libraries like. At most a
/// sixteenth of a large block is wasted, and a quarter of a small one.
DISTRIBUTE_INLINE int64_t gpu_size_class(int64_t bytes) {
  if (gpu_state().exact_memory) return std::max<int64_t>(bytes, 1);
  constexpr int64_t kLarge = 1 << 20;
  const int64_t whole = std::max<int64_t>((bytes + 511) / 512 * 512, 512);
  if (whole <= kLarge) return size_class(whole);
  const auto step = int64_t(std::bit_floor(uint64_t(whole - 1))) / 16;
  return (whole + step - 1) / step * step;
}

/// Call it with the lane's mutex locked.
DISTRIBUTE_INLINE void put_back(GpuPool& pool, GpuLane& lane, void* data, int64_t block) {
  pool.live.erase(pool.live.find(block));
  lane.memory.current -= block;
  if (gpu_state().exact_memory && lane.pool.get() == &pool) {
    const GpuGuard guard(pool.device());
    check_cuda(cuda_driver().cuMemFree(cuda_address(data)), "cuMemFree", pool.device());
    return;
  }
  pool.free_blocks[block].push_back(data);
  lane.memory.cached += block;
}

DISTRIBUTE_INLINE void gpu_release(const std::shared_ptr<GpuPool>& pool, GpuLane& lane, void* data,
                                   int64_t block) {
  std::lock_guard lock(lane.mutex);
  const std::shared_ptr<GpuPool>& scope = pool_scope();
  if (scope && scope != pool && scope->device() == pool->device())
    scope->held.push_back({pool, data, block});
  else
    put_back(*pool, lane, data, block);
}

/// Allocates memory of a GPU for Buffer, and sets the function that returns it.
DISTRIBUTE_INLINE void* gpu_allocate(int64_t bytes, Device device, std::function<void()>& release) {
  GpuLane& lane = gpu_lane(device);
  const int64_t block = gpu_size_class(bytes);
  std::lock_guard lock(lane.mutex);
  const std::shared_ptr<GpuPool> pool = pool_of(device, lane);
  auto& blocks = pool->free_blocks[block];
  void* data = nullptr;
  if (blocks.empty()) {
    const GpuGuard guard(device);
    data = take_from_driver(device, block, *pool, lane);
  } else {
    data = blocks.back();
    blocks.pop_back();
    lane.memory.cached -= block;
  }
  pool->live.insert(block);
  lane.memory.current += block;
  lane.memory.peak = std::max(lane.memory.peak, lane.memory.current);
  release = [pool, &lane, data, block] { gpu_release(pool, lane, data, block); };
  return data;
}

DISTRIBUTE_INLINE MemoryInfo gpu_memory_info(Device device) {
  GpuLane& lane = gpu_lane(device);
  std::lock_guard lock(lane.mutex);
  return lane.memory;
}

DISTRIBUTE_INLINE void gpu_release_cached(Device device) {
  transposed_filter_cache(device).end_pass();
  GpuLane& lane = gpu_lane(device);
  const GpuGuard guard(device);
  std::lock_guard lock(lane.mutex);
  release_blocks(*common_pool(device, lane), lane.memory);
}

/// Pairs of contexts for which enable_peer() has been called.
struct ConnectedPeers {
  std::mutex mutex;  // guards pairs
  std::set<std::pair<CudaHandle, CudaHandle>> pairs;
};

/// Lets the device of `stream` access the other's memory directly if possible; else the driver
/// copies through the host. It is done once for each pair.
DISTRIBUTE_INLINE void enable_peer(Device device, Device peer) {
  auto& connected = in_process<ConnectedPeers>();
  const CudaHandle own = cuda_context(device), other = cuda_context(peer);
  std::lock_guard lock(connected.mutex);
  if (own == other || !connected.pairs.insert({own, other}).second) return;
  const CudaDriver& driver = cuda_driver();
  int a = 0, b = 0, can = 0;
  check_cuda(driver.cuDeviceGet(&a, gpu_info(device).number), "cuDeviceGet", device);
  check_cuda(driver.cuDeviceGet(&b, gpu_info(peer).number), "cuDeviceGet", peer);
  check_cuda(driver.cuDeviceCanAccessPeer(&can, a, b), "cuDeviceCanAccessPeer", device);
  if (!can) return;
  const GpuGuard guard(device);
  const CudaResult result = driver.cuCtxEnablePeerAccess(other, 0);
  if (result != kCudaPeerAccessAlreadyEnabled)
    check_cuda(result, "cuCtxEnablePeerAccess",
               str_cat(to_string(device), " to ", to_string(peer)));
}

DISTRIBUTE_INLINE void copy_between_gpus(void* to, Device to_device, const void* from,
                                         Device from_device, int64_t bytes) {
  const CudaDriver& driver = cuda_driver();
  const CudaStreamRef stream = current_stream(to_device);
  const auto details = [&] {
    return str_cat(bytes, " bytes from ", to_string(from_device), " to ", to_string(to_device));
  };
  if (from_device != to_device) {
    enable_peer(to_device, from_device);
    stream.wait(current_stream(from_device));
  }
  const CudaHandle target = cuda_context(to_device), source = cuda_context(from_device);
  const GpuGuard guard(to_device);
  const CudaResult result =
      target == source ? driver.cuMemcpyDtoDAsync(cuda_address(to), cuda_address(from),
                                                  size_t(bytes), stream.native())
                       : driver.cuMemcpyPeerAsync(cuda_address(to), target, cuda_address(from),
                                                  source, size_t(bytes), stream.native());
  if (result != kCudaSuccess) check_cuda(result, "cuMemcpyPeerAsync", details());
  // The source may be overwritten on its own stream as soon as its owner drops it.
  if (from_device != to_device) current_stream(from_device).wait(stream);
}

}  // namespace device_internal

DISTRIBUTE_INLINE std::shared_ptr<GpuPool> make_gpu_pool(Device device) {
  // The free blocks return to the driver when the last user is done with them.
  const auto drop = [state = &device_internal::gpu_state()](GpuPool* pool) {
    const std::unique_ptr<GpuPool> owner(pool);
    if (state != &device_internal::gpu_state()) return;  // the driver of a test that has ended
    device_internal::GpuLane& lane = device_internal::gpu_lane(pool->device());
    const GpuGuard guard(pool->device());
    // dropped without holding the lock
    const std::vector<GpuPool::Held> held = std::move(pool->held);
    std::lock_guard lock(lane.mutex);
    device_internal::release_blocks(*pool, lane.memory);
    for (const auto& [others, data, bytes] : held)
      device_internal::put_back(*others, lane, data, bytes);
  };
  return std::shared_ptr<GpuPool>(new GpuPool(device), drop);
}

DISTRIBUTE_INLINE GpuPoolScope::GpuPoolScope(std::shared_ptr<GpuPool> pool)
    : pool_(std::move(pool)), outer_(device_internal::pool_scope()) {
  device_internal::pool_scope() = pool_;
}
DISTRIBUTE_INLINE GpuPoolScope::~GpuPoolScope() { device_internal::pool_scope() = outer_; }

namespace device_internal {

DISTRIBUTE_INLINE void refuse_while_recording(Device gpu, int64_t bytes, const char* what) {
  const GpuGuard guard(gpu);
  if (current_stream(gpu).is_capturing())
    throw FailedPreconditionError(str_cat(bytes, " bytes are ", what, to_string(gpu),
                                          " by the host in a step that is being recorded"));
}

/// If the GPU reads pageable host memory directly, a copy happens only when its stream reaches it.
/// Small sources are copied first, so that the host need not wait.
inline constexpr int64_t kMostStagedBytes = 1 << 20;

DISTRIBUTE_INLINE void send_staged(void* to, Device gpu, const void* from, int64_t bytes) {
  GpuLane& lane = gpu_lane(gpu);
  std::shared_ptr<StagingMemory> staging;
  {
    std::lock_guard lock(lane.mutex);
    if (!lane.staging) lane.staging = std::make_shared<StagingMemory>(gpu);
    staging = lane.staging;
  }
  const auto block = staging->take(bytes);
  std::memcpy(block->data(), from, size_t(bytes));
  block->send(0, bytes, to, gpu);
}

}  // namespace device_internal

DISTRIBUTE_INLINE void copy_bytes(void* to, Device to_device, const void* from, Device from_device,
                                  int64_t bytes) {
  if (bytes == 0) return;
  const bool to_gpu = to_device.type == DeviceType::Gpu;
  const bool from_gpu = from_device.type == DeviceType::Gpu;
  if (!to_gpu && !from_gpu) {
    std::memcpy(to, from, size_t(bytes));
    return;
  }
  if (to_gpu && from_gpu)
    return device_internal::copy_between_gpus(to, to_device, from, from_device, bytes);
  device_internal::refuse_while_recording(to_gpu ? to_device : from_device, bytes,
                                          to_gpu ? "sent to " : "read from ");
  if (to_gpu) {
    const bool reads_pageable = gpu_info(to_device).reads_pageable;
    if (reads_pageable && bytes <= device_internal::kMostStagedBytes)
      return device_internal::send_staged(to, to_device, from, bytes);
    copy_pinned(to, to_device, from, bytes);
    // Otherwise the driver has copied the bytes when it returns.
    if (reads_pageable) current_stream(to_device).synchronize();
    return;
  }
  const CudaStreamRef stream = current_stream(from_device);
  const GpuGuard guard(from_device);
  const CudaResult result =
      cuda_driver().cuMemcpyDtoHAsync(to, cuda_address(from), size_t(bytes), stream.native());
  if (result != kCudaSuccess)
    check_cuda(result, "cuMemcpyDtoHAsync", str_cat(bytes, " bytes from ", to_string(from_device)));
  stream.synchronize();
}

DISTRIBUTE_INLINE void copy_pinned(void* to, Device gpu, const void* from, int64_t bytes) {
  const CudaHandle stream = current_stream(gpu).native();
  const GpuGuard guard(gpu);
  const CudaResult result =
      cuda_driver().cuMemcpyHtoDAsync(cuda_address(to), from, size_t(bytes), stream);
  if (result != kCudaSuccess)
    check_cuda(result, "cuMemcpyHtoDAsync", str_cat(bytes, " bytes to ", to_string(gpu)));
}

DISTRIBUTE_INLINE void fill_elements(void* to, Device device, int64_t element_bytes,
                                     uint64_t pattern, int64_t count) {
  if (count == 0) return;
  const CudaDriver& driver = cuda_driver();
  const CudaHandle stream = current_stream(device).native();
  const GpuGuard guard(device);
  const CudaAddress at = cuda_address(to);
  const uint32_t low = uint32_t(pattern), high = uint32_t(pattern >> 32);
  CudaResult result = kCudaSuccess;
  if (element_bytes == 1) {
    result = driver.cuMemsetD8Async(at, static_cast<unsigned char>(low), size_t(count), stream);
  } else if (element_bytes == 2) {
    result = driver.cuMemsetD16Async(at, static_cast<unsigned short>(low), size_t(count), stream);
  } else if (element_bytes == 4 || low == high) {
    result = driver.cuMemsetD32Async(at, low, size_t(count * element_bytes / 4), stream);
  } else {  // each half alone: rows of one element, 8 bytes apart
    result = driver.cuMemsetD2D32Async(at, 8, low, 1, size_t(count), stream);
    if (result == kCudaSuccess)
      result = driver.cuMemsetD2D32Async(at + 4, 8, high, 1, size_t(count), stream);
  }
  if (result != kCudaSuccess)
    check_cuda(result, "cuMemsetAsync",
               str_cat(count, " elements of ", element_bytes, " bytes on ", to_string(device)));
}

DISTRIBUTE_INLINE PinnedBuffer::PinnedBuffer(int64_t bytes, Device device)
    : bytes_(bytes), device_(device) {
  constexpr unsigned kPortable = 1;  // for every GPU of the process
  const GpuGuard guard(device);
  check_cuda(cuda_driver().cuMemHostAlloc(&data_, size_t(std::max<int64_t>(bytes, 1)), kPortable),
             "cuMemHostAlloc", str_cat(bytes, " bytes of page-locked host memory"));
}
DISTRIBUTE_INLINE PinnedBuffer::PinnedBuffer(PinnedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      device_(other.device_) {}
DISTRIBUTE_INLINE PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(device_, other.device_);
  return *this;
}
DISTRIBUTE_INLINE PinnedBuffer::~PinnedBuffer() {
  device_internal::destroy_cuda(device_internal::gpu_state().driver.cuMemFreeHost, data_, device_,
                                "cuMemFreeHost");
}

}  // namespace distribute
