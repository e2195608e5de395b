#pragma once
/// CRC-32C (Castagnoli), the checksum of TensorBundle, TFRecord and event files.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <string_view>

namespace distribute::io {

/// The checksum of the bytes that gave `crc` followed by `bytes`. Uses SSE4.2 where the CPU has it.
uint32_t crc32c_extend(uint32_t crc, std::string_view bytes);

inline uint32_t crc32c(std::string_view bytes) { return crc32c_extend(0, bytes); }  // Castagnoli

/// Files store checksums masked, because the checksum of data that holds its own is weak.
/// Source  leveldb util/crc32c.h
constexpr uint32_t mask_crc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace distribute::io
