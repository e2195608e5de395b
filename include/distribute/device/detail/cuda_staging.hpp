#pragma once
/// Page-locked host memory through which values go to GPUs and come from them in batches.

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

/// A piece of that memory and the copies that it has part in. Thread-compatible.
class StagingBlock {
 public:
  StagingBlock(int64_t bytes, Device gpu) : memory_(bytes, gpu) {}
  char* data() const { return static_cast<char*>(memory_.data()); }
  int64_t bytes() const { return memory_.bytes(); }

  /// Queues a copy to a GPU, on the calling thread's stream there; the host goes on.
  void send(int64_t begin, int64_t bytes, void* to, Device gpu);
  /// The same from a GPU; the bytes are there after synchronize().
  void fetch(const void* from, Device gpu, int64_t begin, int64_t bytes);
  /// Blocks  until all copies so far are done.
  void synchronize();

 private:
  friend class StagingMemory;
  void uses(CudaStreamRef stream);
  /// Notes what its streams have been given, before it is let go of.
  void mark();
  bool is_free() const;

  PinnedBuffer memory_;
  std::vector<CudaStreamRef> streams_;  // with copies that have not been waited for
  std::vector<CudaEvent> last_use_;
};

/// Hands out blocks, and hands them out again when they are dropped and their copies are done.
/// Thread-safe; blocks may outlive it.
class StagingMemory {
 public:
  /// `gpu` is any GPU of this process.
  explicit StagingMemory(Device gpu);
  /// At least `bytes` bytes, contents undefined.
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
