#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_staging.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace distribute {

DISTRIBUTE_INLINE void StagingBlock::uses(CudaStreamRef stream) {
  if (std::find(streams_.begin(), streams_.end(), stream) == streams_.end())
    streams_.push_back(stream);
}

DISTRIBUTE_INLINE void StagingBlock::send(int64_t begin, int64_t bytes, void* to, Device gpu) {
  if (bytes == 0) return;
  uses(current_stream(gpu));
  copy_pinned(to, gpu, data() + begin, bytes);
}

DISTRIBUTE_INLINE void StagingBlock::fetch(const void* from, Device gpu, int64_t begin,
                                           int64_t bytes) {
  if (bytes == 0) return;
  const CudaStreamRef stream = current_stream(gpu);
  uses(stream);
  const GpuGuard guard(gpu);
  const CudaResult result = cuda_driver().cuMemcpyDtoHAsync(data() + begin, cuda_address(from),
                                                            size_t(bytes), stream.native());
  if (result != kCudaSuccess)
    check_cuda(result, "cuMemcpyDtoHAsync", str_cat(bytes, " bytes from ", to_string(gpu)));
}

DISTRIBUTE_INLINE void StagingBlock::synchronize() {
  for (const CudaStreamRef stream : streams_) stream.synchronize();
  streams_.clear();
}

DISTRIBUTE_INLINE void StagingBlock::mark() {
  last_use_.clear();
  for (const CudaStreamRef stream : streams_) {
    const GpuGuard guard(stream.device());
    last_use_.emplace_back(stream.device()).record(stream);
  }
  streams_.clear();
}

DISTRIBUTE_INLINE bool StagingBlock::is_free() const {
  return std::all_of(last_use_.begin(), last_use_.end(),
                     [](const CudaEvent& event) { return event.ref().is_done(); });
}

DISTRIBUTE_INLINE std::unique_ptr<StagingBlock> StagingMemory::Free::find(int64_t bytes) {
  const std::lock_guard lock(mutex);
  auto& same_size = blocks[bytes];
  const auto found = std::find_if(same_size.begin(), same_size.end(),
                                  [](const auto& block) { return block->is_free(); });
  if (found == same_size.end()) return nullptr;
  auto block = std::move(*found);
  same_size.erase(found);
  return block;
}

DISTRIBUTE_INLINE void StagingMemory::Free::give_back(
    std::unique_ptr<StagingBlock> block) noexcept {
  try {
    block->mark();
    const std::lock_guard lock(mutex);
    blocks[block->bytes()].push_back(std::move(block));
  } catch (const std::exception& error) {
    log_warning("device", str_cat("page-locked memory is not used again: ", error.what()));
  }
}

DISTRIBUTE_INLINE StagingMemory::StagingMemory(Device gpu)
    : gpu_(gpu), free_(std::make_shared<Free>()) {}

/// Rounds sizes up to powers of two, so that batches of changing sizes find blocks.
DISTRIBUTE_INLINE std::shared_ptr<StagingBlock> StagingMemory::take(int64_t bytes) {
  constexpr int64_t kSmallest = 4096;
  const auto size = int64_t(std::bit_ceil(uint64_t(std::max(bytes, kSmallest))));
  auto block = free_->find(size);
  if (!block) block = std::make_unique<StagingBlock>(size, gpu_);
  return {block.release(), [free = free_](StagingBlock* dropped) {
            free->give_back(std::unique_ptr<StagingBlock>(dropped));
          }};
}

}  // namespace distribute
