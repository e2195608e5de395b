#pragma once
/// Host arrays on their way to a GPU, beside its computing.

#include <distribute/base/config.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_stream.hpp>

#include <array>
#include <cstdint>
#include <memory>

namespace distribute {

/// Copies through two pieces of page-locked memory, on a stream of its own. A block of the GPU's
/// memory is written again when it is not held any more, after the work that used it: a copy waits
/// for no other work. One thread at a time; any thread may drop a buffer, also after the feed.
class CudaFeed {
 public:
  explicit CudaFeed(Device gpu);
  Device device() const { return gpu_; }
  /// Blocks  until the bytes are there: who uses the buffer need not wait for a stream.
  /// Throws  what check_cuda throws.
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
