#pragma once
#include <distribute/base/detail/file_size_signal.hpp>
#include <distribute/parameter_server/detail/shared_arena.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE int64_t arena_block(int64_t bytes) {
  return bytes <= 0 ? 4096 : (bytes + 4095) & ~int64_t{4095};
}

DISTRIBUTE_INLINE std::shared_ptr<SharedArena> SharedArena::create(int64_t bytes) {
  base_internal::ignore_file_size_signal();
  const int descriptor =
      ::memfd_create("distribute-parameter-server", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return nullptr;
  // Sealed: a shorter file would kill every process that has mapped it.
  if (::ftruncate(descriptor, bytes) != 0 ||
      ::fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    ::close(descriptor);
    return nullptr;
  }
  return map(descriptor);
}

DISTRIBUTE_INLINE std::shared_ptr<SharedArena> SharedArena::attach(int descriptor) {
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals >= 0 && (seals & F_SEAL_SHRINK)) return map(descriptor);
  ::close(descriptor);
  return nullptr;
}

DISTRIBUTE_INLINE std::shared_ptr<SharedArena> SharedArena::map(int descriptor) {
  struct stat status {};
  ::fstat(descriptor, &status);
  void* base = ::mmap(nullptr, size_t(status.st_size), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (base == MAP_FAILED) {
    ::close(descriptor);
    return nullptr;
  }
  return std::shared_ptr<SharedArena>(
      new SharedArena(descriptor, static_cast<std::byte*>(base), int64_t(status.st_size)));
}

DISTRIBUTE_INLINE SharedArena::~SharedArena() {
  ::munmap(base_, size_t(bytes_));
  ::close(descriptor_);
}

DISTRIBUTE_INLINE int64_t SharedArena::offset_of(const void* data) const {
  const auto* at = static_cast<const std::byte*>(data);
  return at >= base_ && at < base_ + bytes_ ? at - base_ : -1;
}

DISTRIBUTE_INLINE int64_t SharedArena::allocate(int64_t bytes) {
  const int64_t size = arena_block(bytes);
  const std::lock_guard lock(mutex_);
  if (const auto found = free_.find(size); found != free_.end()) {
    const int64_t offset = found->second;
    free_.erase(found);
    return offset;
  }
  if (size > bytes_ - used_) return -1;
  return std::exchange(used_, used_ + size);
}

DISTRIBUTE_INLINE void SharedArena::release(int64_t offset, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  free_.emplace(arena_block(bytes), offset);
}

}  // namespace distribute::parameter_server
