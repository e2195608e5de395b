#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/device/detail/cuda_feed.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

namespace distribute {

namespace device_internal {

inline constexpr int64_t kFeedPiece = int64_t{8} << 20;

}  // namespace device_internal

struct CudaFeed::Block {
  std::unique_ptr<Buffer> memory;
  CudaEvent last_use;
};

/// The free blocks; they outlive the feed as long as there are buffers.
struct CudaFeed::FreeBlocks {
  std::mutex mutex;  // guards blocks
  std::vector<Block> blocks;

  void give_back(Block block) noexcept;
};

/// The thread that held the buffer last calls it; all work that it has queued may use the block.
DISTRIBUTE_INLINE void CudaFeed::FreeBlocks::give_back(Block block) noexcept {
  constexpr size_t kMost = 8;
  try {
    block.last_use.record(current_stream(block.memory->device()));
    const std::lock_guard lock(mutex);
    if (blocks.size() == kMost) blocks.erase(blocks.begin());
    blocks.push_back(std::move(block));
  } catch (const std::exception& error) {
    log_warning("device", str_cat("a batch's memory is not used again: ", error.what()));
  }
}

DISTRIBUTE_INLINE CudaFeed::CudaFeed(Device gpu)
    : gpu_(gpu),
      stream_(gpu),
      pieces_{Piece{PinnedBuffer(device_internal::kFeedPiece, gpu), CudaEvent(gpu)},
              Piece{PinnedBuffer(device_internal::kFeedPiece, gpu), CudaEvent(gpu)}},
      free_(std::make_shared<FreeBlocks>()) {}

/// Gives the smallest free block that fits and is not much too large, or a new one.
DISTRIBUTE_INLINE CudaFeed::Block CudaFeed::take(int64_t bytes) {
  {
    const std::lock_guard lock(free_->mutex);
    auto& blocks = free_->blocks;
    auto best = blocks.end();
    for (auto block = blocks.begin(); block != blocks.end(); ++block) {
      const int64_t size = block->memory->bytes();
      const bool fits = size >= bytes && size <= 2 * bytes;
      if (fits && (best == blocks.end() || size < best->memory->bytes())) best = block;
    }
    if (best != blocks.end()) {
      Block found = std::move(*best);
      blocks.erase(best);
      return found;
    }
  }
  Block made{std::make_unique<Buffer>(bytes, gpu_), CudaEvent(gpu_)};
  made.last_use.record(current_stream(gpu_));  // the memory's previous work may still run there
  return made;
}

/// Copies piecewise: one piece is filled while the other is sent.
DISTRIBUTE_INLINE void CudaFeed::send(char* to, const char* from, int64_t bytes) {
  const CudaStreamScope scope(stream_);
  for (int64_t at = 0, turn = 0; at < bytes; at += device_internal::kFeedPiece, ++turn) {
    const Piece& piece = pieces_[size_t(turn % 2)];
    const int64_t size = std::min(bytes - at, device_internal::kFeedPiece);
    if (turn >= 2) piece.sent.ref().synchronize();
    std::memcpy(piece.memory.data(), from + at, size_t(size));
    copy_pinned(to + at, gpu_, piece.memory.data(), size);
    piece.sent.record(stream_);
  }
  stream_.ref().synchronize();
}

DISTRIBUTE_INLINE std::shared_ptr<Buffer> CudaFeed::copy(const void* data, int64_t bytes) {
  if (bytes == 0) return std::make_shared<Buffer>(0, gpu_);
  auto block = std::make_shared<Block>(take(bytes));
  stream_.ref().wait(block->last_use);
  char* const to = static_cast<char*>(block->memory->data());
  send(to, static_cast<const char*>(data), bytes);
  return std::make_shared<Buffer>(to, bytes, gpu_,
                                  [block, free = free_] { free->give_back(std::move(*block)); });
}

}  // namespace distribute
