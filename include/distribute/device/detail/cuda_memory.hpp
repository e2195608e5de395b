#pragma once
/// Memory of GPUs: the cache that Buffer uses, copies, fills, and page-locked host memory.

#include <distribute/base/config.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/device/detail/cuda_driver.hpp>

#include <cstdint>
#include <memory>

namespace distribute {

/// A set of blocks that is kept apart from the device's other memory, because what a captured graph
/// uses must stay where it is as long as the graph lives. Blocks return to the pool that they came
/// from.
class GpuPool;

/// A new, empty pool of a device.
std::shared_ptr<GpuPool> make_gpu_pool(Device device);

/// While it lives, buffers that the calling thread makes on the pool's device come from the pool.
class [[nodiscard]] GpuPoolScope {
 public:
  explicit GpuPoolScope(std::shared_ptr<GpuPool> pool);
  ~GpuPoolScope();
  GpuPoolScope(const GpuPoolScope&) = delete;
  GpuPoolScope& operator=(const GpuPoolScope&) = delete;

 private:
  std::shared_ptr<GpuPool> pool_, outer_;
};

/// Copies between any two devices, on the current stream of the GPU (the target's if both are
/// GPUs). The call returns at once, with two exceptions: a copy to host memory is complete when it
/// returns, and host memory that is read may be changed afterwards unless it is page-locked (see
/// copy_pinned).
/// Throws  what check_cuda() throws; FailedPreconditionError for host memory while the stream
///         records, since each launch would read or write it.
void copy_bytes(void* to, Device to_device, const void* from, Device from_device, int64_t bytes);

/// Copies to a GPU from page-locked memory, which may not change before the copy is done.
void copy_pinned(void* to, Device gpu, const void* from, int64_t bytes);

/// Fills `count` elements of 1, 2, 4 or 8 bytes with the lowest bytes of `pattern`.
void fill_elements(void* to, Device device, int64_t element_bytes, uint64_t pattern, int64_t count);

/// Host memory that a GPU reads and writes directly. Owns it; move only.
class PinnedBuffer {
 public:
  /// `device` is any GPU of this process.
  PinnedBuffer(int64_t bytes, Device device);
  PinnedBuffer(PinnedBuffer&& other) noexcept;
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;
  ~PinnedBuffer();
  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  int64_t bytes_ = 0;
  Device device_;
};

/// Gives an address in the form that the driver uses.
inline CudaAddress cuda_address(const void* data) {
  return static_cast<CudaAddress>(reinterpret_cast<uintptr_t>(data));
}

}  // namespace distribute
