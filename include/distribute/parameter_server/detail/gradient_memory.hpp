#pragma once
/// Shared memory into which a client writes gradients and from which servers read them.

#include <distribute/base/config.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/parameter_server/detail/shared_arena.hpp>
#include <distribute/tensor/tensor.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace distribute::parameter_server {

/// Memory of a gradient, held by its tensor and by the push in progress.
struct GradientPlace {
  std::shared_ptr<SharedArena> arena;
  int64_t offset = 0, bytes = 0;
  ~GradientPlace() { arena->release(offset, bytes); }
};

/// Allocates memory for gradients. Thread-safe.
class GradientMemory {
 public:
  /// `arena` may be null if there is no shared memory.
  explicit GradientMemory(std::shared_ptr<SharedArena> arena) : arena_(std::move(arena)) {}

  const std::shared_ptr<SharedArena>& arena() const { return arena_; }
  /// Returns new memory; null without shared memory or room.
  std::shared_ptr<GradientPlace> take(int64_t bytes);
  /// Offers memory for a buffer of `bytes` bytes that will be made soon.
  std::optional<BufferOffer> offer(int64_t bytes);
  /// Returns the memory that holds the tensor's row-major elements; null when they are elsewhere.
  std::shared_ptr<GradientPlace> place_of(const Tensor& tensor);

 private:
  std::shared_ptr<SharedArena> arena_;
  std::mutex mutex_;                                         // guards offered_
  std::map<int64_t, std::weak_ptr<GradientPlace>> offered_;  // by offset
};

}  // namespace distribute::parameter_server
