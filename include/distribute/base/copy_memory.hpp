#pragma once
/// Copies of memory that another core has written or will read.

#include <distribute/base/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace distribute {

namespace base_internal {

/// Whether memcpy should be called for small pieces. Above some KiB glibc copies with `rep movsb`,
/// which on AMD's Zen 3 takes 3 to 5 times as long as its loop of vectors where the lines are in
/// another core's cache.
inline bool copies_in_pieces() {
#if defined(__x86_64__) || defined(__i386__)
  static const bool is_amd = __builtin_cpu_is("amd");
  return is_amd;
#else
  return false;
#endif
}

}  // namespace base_internal

/// std::memcpy for arrays that pass from core to core, such as slots in shared memory.
inline void copy_memory(void* to, const void* from, size_t bytes) {
  constexpr size_t kPiece = 2048;
  const size_t most = base_internal::copies_in_pieces() ? kPiece : bytes;
  for (size_t at = 0; at < bytes; at += most)
    std::memcpy(static_cast<std::byte*>(to) + at, static_cast<const std::byte*>(from) + at,
                std::min(most, bytes - at));
}

}  // namespace distribute
