#pragma once
/// Memory that a server and its clients on the same host see, dealt out in blocks.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace distribute::parameter_server {

/// No name in any file system, gone with the last process that maps it. The size is address space:
/// a page becomes memory when it is first touched. Thread-safe.
class SharedArena {
 public:
  static constexpr int64_t kBytes = int64_t{64} << 30;

  /// Null where the system has no such memory, or not as much address space.
  static std::shared_ptr<SharedArena> create(int64_t bytes = kBytes);
  /// Maps another process's; takes ownership of `descriptor`. Null when it is none.
  static std::shared_ptr<SharedArena> attach(int descriptor);
  ~SharedArena();
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;

  int descriptor() const { return descriptor_; }
  int64_t bytes() const { return bytes_; }
  std::byte* at(int64_t offset) const { return base_ + offset; }
  /// Where `data` lies; -1: elsewhere.
  int64_t offset_of(const void* data) const;

  /// A block whose contents are undefined, on pages of its own; -1: none is left.
  int64_t allocate(int64_t bytes);
  /// Keeps the pages for the next block of this size.
  void release(int64_t offset, int64_t bytes);

 private:
  SharedArena(int descriptor, std::byte* base, int64_t bytes)
      : descriptor_(descriptor), base_(base), bytes_(bytes) {}
  static std::shared_ptr<SharedArena> map(int descriptor);

  int descriptor_;
  std::byte* base_;
  int64_t bytes_;
  std::mutex mutex_;  // guards the two below
  int64_t used_ = 0;
  std::multimap<int64_t, int64_t> free_;  // offsets by size
};

}  // namespace distribute::parameter_server
