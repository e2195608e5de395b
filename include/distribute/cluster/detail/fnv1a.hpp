#pragma once
/// A checksum to compare texts; it is not cryptographic.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <string_view>

namespace distribute::cluster_internal {

/// FNV-1a, 64 bits.
inline uint64_t fnv1a(std::string_view text, uint64_t hash = 0xcbf29ce484222325u) {
  for (const char c : text) hash = (hash ^ uint8_t(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace distribute::cluster_internal
