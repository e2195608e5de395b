#pragma once
/// Memory that a server and its clients on the same host share, allocated in blocks.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace distribute::parameter_server {

/// Shared memory without a name in any file system; it is freed with the last process that maps it.
/// The size is address space: a page becomes memory when it is first touched. Thread-safe.
class SharedArena {
 public:
  static constexpr int64_t kBytes = int64_t{64} << 30;

  /// Returns null if the system has no such memory, or not enough address space.
  static std::shared_ptr<SharedArena> create(int64_t bytes = kBytes);
  /// Maps another process's memory; takes ownership of `descriptor`. Returns null when it is not
  /// such memory.
  static std::shared_ptr<SharedArena> attach(int descriptor);
  ~SharedArena();
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;

  int descriptor() const { return descriptor_; }
  int64_t bytes() const { return bytes_; }
  std::byte* at(int64_t offset) const { return base_ + offset; }
  /// Returns the offset of `data`; -1 if it is elsewhere.
  int64_t offset_of(const void* data) const;

  /// Returns the offset of a block with undefined contents that shares no page; -1 if there is no
  /// room.
  int64_t allocate(int64_t bytes);
  /// Frees a block and keeps its pages for the next block of this size.
  void release(int64_t offset, int64_t bytes);

 private:
  SharedArena(int descriptor, std::byte* base, int64_t bytes)
      : descriptor_(descriptor), base_(base), bytes_(bytes) {}
  static std::shared_ptr<SharedArena> map(int descriptor);

  int descriptor_;
  std::byte* base_;
  int64_t bytes_;
  std::mutex mutex_;  // guards the next two members
  int64_t used_ = 0;
  std::multimap<int64_t, int64_t> free_;  // offsets by size
};

}  // namespace distribute::parameter_server
