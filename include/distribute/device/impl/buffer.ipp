#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/device/detail/host_arena.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace distribute {

namespace device_internal {

/// Caches free host blocks: small ones by size class, large ones in an arena. Thread-safe. It is
/// never destroyed, as buffers may outlive main().
struct HostCache {
  HostCache() { base_internal::prepare_for_little_memory(); }
  std::mutex mutex;  // guards everything below
  std::unordered_map<int64_t, std::vector<void*>> free_blocks;
  HostArena arena{[this](int64_t bytes) { grow(bytes); }};
  MemoryInfo info;
  std::map<int64_t, int> large;  // number of used arena blocks of each size

  /// Called before `bytes` more are taken from the system.
  /// Throws  ResourceExhaustedError where the container's limit leaves no room for them.
  void grow(int64_t bytes);
  /// Gives free blocks back to the system.
  void trim();
  std::string text() const;

 private:
  bool has_room(int64_t bytes);

  const bool limited_ = memory_room().has_value();
  int64_t room_ = 0, taken_ = 0;  // room at the last look, bytes taken since then
  std::string limit_;
};

/// Whether `bytes` more may be taken. It also stores the limit as text, for messages.
DISTRIBUTE_INLINE bool HostCache::has_room(int64_t bytes) {
  const auto room = memory_room();
  if (!room) return true;
  // Memory for the rest of the process: code, stacks, libraries, and pages that were not touched
  // yet.
  const int64_t reserve = std::max<int64_t>(room->limit / 32, 8 << 20);
  limit_ = memory_text(*room);
  room_ = room->free() - reserve;
  taken_ = bytes;
  return room_ >= bytes;
}

DISTRIBUTE_INLINE void HostCache::grow(int64_t bytes) {
  if (!limited_) return;
  taken_ += bytes;
  if (taken_ <= std::min<int64_t>(room_ / 2, 64 << 20)) return;  // room is certainly left
  if (!has_room(bytes)) {
    trim();
    if (!has_room(bytes))
      throw ResourceExhaustedError(
          str_cat("out of memory: ", memory_text(bytes), " wanted, ", limit_, "; ", text(),
                  "; take a smaller batch or network, or raise the limit of the container"));
  }
}

DISTRIBUTE_INLINE void HostCache::trim() {
  for (auto& [bytes, blocks] : free_blocks)
    for (void* data : blocks) std::free(data);
  free_blocks.clear();
  info.cached = 0;
  arena.trim();
}

/// Says "tensors hold 900 MiB, the largest 2 x 256 MiB, 128 MiB".
DISTRIBUTE_INLINE std::string HostCache::text() const {
  std::string text = str_cat("tensors hold ", memory_text(info.current));
  int named = 0;
  for (auto block = large.rbegin(); block != large.rend() && named < 3; ++block, ++named)
    text += str_cat(named ? ", " : ", the largest ",
                    block->second > 1 ? str_cat(block->second, " x ") : std::string(),
                    memory_text(block->first));
  return text;
}

DISTRIBUTE_INLINE HostCache& host_cache() { return in_process<HostCache>(); }

/// Rounds up to one of four classes per power of two, so that at most a quarter is wasted.
DISTRIBUTE_INLINE int64_t size_class(int64_t bytes) {
  if (bytes <= 64) return 64;
  const int64_t step = std::max<int64_t>(int64_t(std::bit_floor(uint64_t(bytes - 1))) / 4, 64);
  return (bytes + step - 1) / step * step;
}

/// Blocks of this size and above come from the arena.
inline constexpr int64_t kArenaBytes = 1 << 20;

DISTRIBUTE_INLINE int64_t block_size(int64_t bytes) {
  return bytes >= kArenaBytes ? HostArena::block_size(bytes) : size_class(bytes);
}

DISTRIBUTE_INLINE void* take_small(HostCache& cache, int64_t block) {
  auto& blocks = cache.free_blocks[block];
  if (blocks.empty()) {
    cache.grow(block);
    void* data = std::aligned_alloc(64, size_t(block));
    if (!data)
      throw ResourceExhaustedError(str_cat("out of host memory: ", block, " bytes wanted"));
    return data;
  }
  void* data = blocks.back();
  blocks.pop_back();
  cache.info.cached -= block;
  return data;
}

DISTRIBUTE_INLINE void* host_allocate(int64_t bytes) {
  HostCache& cache = host_cache();
  const int64_t block = block_size(bytes);
  std::lock_guard lock(cache.mutex);
  void* data = bytes >= kArenaBytes ? cache.arena.allocate(block) : take_small(cache, block);
  if (bytes >= kArenaBytes) ++cache.large[block];
  cache.info.current += block;
  cache.info.peak = std::max(cache.info.peak, cache.info.current);
  return data;
}

DISTRIBUTE_INLINE void host_release(void* data, int64_t bytes) {
  HostCache& cache = host_cache();
  const int64_t block = block_size(bytes);
  std::lock_guard lock(cache.mutex);
  cache.info.current -= block;
  if (bytes >= kArenaBytes) {
    if (const auto same = cache.large.find(block); --same->second == 0) cache.large.erase(same);
    return cache.arena.release(data, block);
  }
  cache.free_blocks[block].push_back(data);
  cache.info.cached += block;
}

}  // namespace device_internal

namespace device_internal {

// These functions serve GPUs; they are in cuda_memory.ipp, whose header includes this one.
void* gpu_allocate(int64_t bytes, Device device, std::function<void()>& release);
MemoryInfo gpu_memory_info(Device device);
void gpu_release_cached(Device device);

/// The offers of the calling thread; null without any.
DISTRIBUTE_INLINE std::vector<BufferOffer>*& current_offers() {
  return base_internal::in_thread_context<base_internal::ContextPlace{1, 1},
                                          std::vector<BufferOffer>*>();
}
}  // namespace device_internal

DISTRIBUTE_INLINE BufferOffers::BufferOffers(std::vector<BufferOffer> offers)
    : offers_(std::move(offers)), outer_(device_internal::current_offers()) {
  device_internal::current_offers() = &offers_;
}

DISTRIBUTE_INLINE BufferOffers::~BufferOffers() { device_internal::current_offers() = outer_; }

DISTRIBUTE_INLINE Buffer::Buffer(int64_t bytes, Device device) : bytes_(bytes), device_(device) {
  if (device.type == DeviceType::Gpu) {
    data_ = device_internal::gpu_allocate(bytes, device, release_);
    return;
  }
  if (auto* offers = device_internal::current_offers())
    for (BufferOffer& offer : *offers)
      if (offer.data && offer.bytes == bytes) {
        data_ = std::exchange(offer.data, nullptr);
        release_ = std::move(offer.release);
        return;
      }
  data_ = device_internal::host_allocate(bytes);
}

DISTRIBUTE_INLINE Buffer::Buffer(void* data, int64_t bytes, Device device,
                                 std::function<void()> release, bool writable)
    : data_(data),
      bytes_(bytes),
      device_(device),
      writable_(writable),
      release_(std::move(release)) {}

DISTRIBUTE_INLINE Buffer::~Buffer() {
  if (release_)
    release_();
  else
    device_internal::host_release(data_, bytes_);
}

DISTRIBUTE_INLINE MemoryInfo memory_info(Device device) {
  if (device.type == DeviceType::Gpu) return device_internal::gpu_memory_info(device);
  auto& cache = device_internal::host_cache();
  std::lock_guard lock(cache.mutex);
  MemoryInfo info = cache.info;
  info.cached += cache.arena.cached();
  return info;
}

DISTRIBUTE_INLINE void release_cached_memory(Device device) {
  if (device.type == DeviceType::Gpu) return device_internal::gpu_release_cached(device);
  auto& cache = device_internal::host_cache();
  std::lock_guard lock(cache.mutex);
  cache.trim();
}

namespace device_internal {

/// The last result of host_memory_shortage().
class MemoryWatch {
 public:
  using Clock = std::chrono::steady_clock;

  std::string shortage() {
    const std::lock_guard lock(mutex_);
    if (const auto now = Clock::now(); now >= next_look_) {
      look(now);
      next_look_ = now + std::chrono::milliseconds(50);
    }
    return text_;
  }

 private:
  void look(Clock::time_point now) {
    text_ = little();
    if (text_.empty() || now < next_release_) return;
    // later allocations are slower, as they touch new pages
    next_release_ = now + std::chrono::seconds(1);
    release_cached_memory(Device{});
    text_ = little();
  }
  std::string little() const {
    for (const auto& room : {limited_ ? memory_room() : std::nullopt, address_room()})
      if (room && room->free() < room->limit / 8) return memory_text(*room);
    return "";
  }

  std::mutex mutex_;  // guards all
  const bool limited_ = memory_room().has_value();
  Clock::time_point next_look_, next_release_;
  std::string text_;
};

}  // namespace device_internal

DISTRIBUTE_INLINE std::string host_memory_shortage() noexcept {
  try {
    return in_process<device_internal::MemoryWatch>().shortage();
  } catch (const std::exception&) {
    return "no memory";  // even the look needs memory
  }
}

}  // namespace distribute

#include <distribute/device/detail/cuda_memory.hpp>
