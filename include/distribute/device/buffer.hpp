#pragma once
/// Memory of a device: an owning block, and the cache that hands blocks out again.

#include <distribute/base/config.hpp>
#include <distribute/device/device_spec.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace distribute {

/// One block of memory, 64-byte aligned, contents undefined. Thread-compatible.
class Buffer {
 public:
  /// Takes `bytes` (may be 0) from the device's cache.
  /// Throws  ResourceExhaustedError when the device has no memory left.
  Buffer(int64_t bytes, Device device);
  /// Wraps memory that is owned elsewhere; `release` is called at the end. With `writable` false no
  /// variable takes the memory over: the first update copies its elements.
  Buffer(void* data, int64_t bytes, Device device, std::function<void()> release,
         bool writable = true);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// Returns the address, the size in bytes, and the device.
  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  bool writable() const { return writable_; }

 private:
  void* data_ = nullptr;
  int64_t bytes_ = 0;
  Device device_;
  bool writable_ = true;
  std::function<void()> release_;  // empty: the block returns to the cache
};

/// Memory that a buffer of exactly `bytes` bytes may use instead of the cache's.
struct BufferOffer {
  int64_t bytes = 0;
  void* data = nullptr;
  std::function<void()> release;  // called at the end of the buffer that took it
};

/// While it lives, host buffers that this thread makes take a fitting offer, each offer once.
/// Results then appear in the memory of their user without a copy.
class [[nodiscard]] BufferOffers {
 public:
  explicit BufferOffers(std::vector<BufferOffer> offers);
  ~BufferOffers();
  BufferOffers(const BufferOffers&) = delete;
  BufferOffers& operator=(const BufferOffers&) = delete;

 private:
  std::vector<BufferOffer> offers_;
  std::vector<BufferOffer>* outer_;
};

/// Bytes in use, now and at their highest. Source  tf.config.experimental.get_memory_info
MemoryInfo memory_info(Device device);

/// Gives the free blocks of the cache back to the system.
void release_cached_memory(Device device);

/// Says "1.4 GiB of 1.5 GiB are in use (/sys/fs/cgroup/memory.max)" where less than an eighth is
/// left below the limit of the container or of `ulimit -v`, even after the host cache has given
/// back its free blocks; otherwise "". Code that holds elements in advance asks it, and then holds
/// fewer. It looks at the memory at most 20 times a second. Thread-safe.
std::string host_memory_shortage() noexcept;

}  // namespace distribute
