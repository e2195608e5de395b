#pragma once
/// Copies host arrays to a GPU while the GPU computes.

#include <distribute/base/config.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_stream.hpp>

#include <array>
#include <cstdint>
#include <memory>

namespace distribute {

/// Copies through two pieces of page-locked memory, on a stream of its own. One thread at a time;
/// any thread may drop a buffer, also after the feed is gone.
///
/// Invariants:
/// 1. A block of GPU memory is written again only when nothing holds it any more and the work that
///    used it is done.
/// 2. A copy waits for no other work of the GPU.
class CudaFeed {
 public:
  explicit CudaFeed(Device gpu);
  Device device() const { return gpu_; }
  /// Copies `bytes` bytes from host memory to a buffer on the GPU.
  /// Blocks  until the bytes are there, so that users of the buffer need not wait for a stream.
  /// Throws  what check_cuda() throws.
  std::shared_ptr<Buffer> copy(const void* data, int64_t bytes);

 private:
  struct Block;
  struct FreeBlocks;
  struct Piece {
    PinnedBuffer memory;
    CudaEvent sent;
  };
  Block take(int64_t bytes);
  void send(char* to, const char* from, int64_t bytes);

  Device gpu_;
  CudaStream stream_;
  std::array<Piece, 2> pieces_;
  std::shared_ptr<FreeBlocks> free_;
};

}  // namespace distribute
