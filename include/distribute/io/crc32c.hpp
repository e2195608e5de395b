#pragma once
/// CRC-32C (Castagnoli), the checksum of TensorBundle, TFRecord and event files.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <string_view>

namespace distribute::io {

/// Extends `crc`, the checksum of some bytes, to the checksum of those bytes followed by `bytes`.
/// Uses SSE4.2 where the CPU has it.
uint32_t crc32c_extend(uint32_t crc, std::string_view bytes);

inline uint32_t crc32c(std::string_view bytes) { return crc32c_extend(0, bytes); }  // Castagnoli

/// Masks a checksum as files store it, because the checksum of data that contains its own checksum
/// is weak.
/// Source  leveldb util/crc32c.h
constexpr uint32_t mask_crc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace distribute::io
