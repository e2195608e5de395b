#pragma once
/// Page-locked host memory through which values are copied in batches to GPUs and back.

#include <distribute/base/config.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_stream.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace distribute {

/// A piece of page-locked memory, and the copies that use it. Thread-compatible.
class StagingBlock {
 public:
  StagingBlock(int64_t bytes, Device gpu) : memory_(bytes, gpu) {}
  char* data() const { return static_cast<char*>(memory_.data()); }
  int64_t bytes() const { return memory_.bytes(); }

  /// Queues a copy to a GPU on the calling thread's stream there, and returns at once.
  void send(int64_t begin, int64_t bytes, void* to, Device gpu);
  /// Queues a copy from a GPU; the bytes are there after synchronize().
  void fetch(const void* from, Device gpu, int64_t begin, int64_t bytes);
  /// Blocks  until all copies queued so far are done.
  void synchronize();

 private:
  friend class StagingMemory;
  void uses(CudaStreamRef stream);
  /// Records an event on each stream that it used, before the block is given back.
  void mark();
  bool is_free() const;

  PinnedBuffer memory_;
  std::vector<CudaStreamRef> streams_;  // streams with copies that have not been waited for
  std::vector<CudaEvent> last_use_;
};

/// Hands out blocks, and reuses a block when it was dropped and its copies are done. Thread-safe;
/// blocks may outlive it.
class StagingMemory {
 public:
  /// `gpu` is any GPU of this process.
  explicit StagingMemory(Device gpu);
  /// Gives a block of at least `bytes` bytes with undefined contents.
  std::shared_ptr<StagingBlock> take(int64_t bytes);

 private:
  struct Free {
    std::mutex mutex;                                                           // guards blocks
    std::map<int64_t, std::vector<std::unique_ptr<StagingBlock>>> blocks = {};  // by size
    std::unique_ptr<StagingBlock> find(int64_t bytes);
    void give_back(std::unique_ptr<StagingBlock> block) noexcept;
  };
  const Device gpu_;
  const std::shared_ptr<Free> free_;
};

}  // namespace distribute
