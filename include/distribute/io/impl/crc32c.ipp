#pragma once
#include <distribute/io/compression.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace distribute::io_internal {

using Crc32cTables = std::array<std::array<uint32_t, 256>, 8>;

/// Makes tables: table k has the effect of a byte that is followed by k zero bytes.
constexpr Crc32cTables make_crc32c_tables() {
  Crc32cTables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

inline constexpr Crc32cTables kCrc32cTables = make_crc32c_tables();

/// Computes the checksum on any CPU, on little-endian ones 8 bytes at a time. `crc` is the inverted
/// register.
DISTRIBUTE_INLINE uint32_t crc32c_by_table(uint32_t crc, const char* data, size_t size) {
  const Crc32cTables& t = kCrc32cTables;
  while (std::endian::native == std::endian::little && size >= 8) {
    uint32_t low, high;
    std::memcpy(&low, data, 4);
    std::memcpy(&high, data + 4, 4);
    low ^= crc;
    crc = t[7][low & 0xff] ^ t[6][(low >> 8) & 0xff] ^ t[5][(low >> 16) & 0xff] ^ t[4][low >> 24] ^
          t[3][high & 0xff] ^ t[2][(high >> 8) & 0xff] ^ t[1][(high >> 16) & 0xff] ^
          t[0][high >> 24];
    data += 8;
    size -= 8;
  }
  for (; size > 0; --size, ++data) crc = (crc >> 8) ^ t[0][(crc ^ uint8_t(*data)) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) DISTRIBUTE_INLINE uint32_t crc32c_by_instruction(uint32_t crc,
                                                                                   const char* data,
                                                                                   size_t size) {
  uint64_t wide = crc;
  for (; size >= 8; size -= 8, data += 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  uint32_t narrow = uint32_t(wide);
  for (; size > 0; --size, ++data) narrow = __builtin_ia32_crc32qi(narrow, uint8_t(*data));
  return narrow;
}

DISTRIBUTE_INLINE bool has_crc32c_instruction() { return __builtin_cpu_supports("sse4.2"); }
#else
DISTRIBUTE_INLINE uint32_t crc32c_by_instruction(uint32_t crc, const char* data, size_t size) {
  return crc32c_by_table(crc, data, size);
}

DISTRIBUTE_INLINE bool has_crc32c_instruction() { return false; }
#endif

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE uint32_t crc32c_extend(uint32_t crc, std::string_view bytes) {
  const bool fast = io_internal::has_crc32c_instruction();
  const auto update = fast ? io_internal::crc32c_by_instruction : io_internal::crc32c_by_table;
  return ~update(~crc, bytes.data(), bytes.size());
}

}  // namespace distribute::io
