#pragma once
#include <distribute/base/error.hpp>
#include <distribute/summary/detail/png.hpp>

#include <string_view>

#include <zlib.h>

namespace distribute::summary_internal {

DISTRIBUTE_INLINE std::string big_endian(uint32_t value) {
  return {char(value >> 24), char(value >> 16), char(value >> 8), char(value)};
}

/// Makes a chunk: length, type and bytes, checksum of type and bytes.
DISTRIBUTE_INLINE std::string png_chunk(std::string_view type, std::string_view bytes) {
  std::string body(type);
  body += bytes;
  const auto* data = reinterpret_cast<const Bytef*>(body.data());
  return big_endian(uint32_t(bytes.size())) + body +
         big_endian(uint32_t(crc32_z(0, data, body.size())));
}

DISTRIBUTE_INLINE std::string deflate_all(const std::string& bytes) {
  uLongf size = compressBound(uLong(bytes.size()));
  std::string packed(size, '\0');
  const int status = compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                              reinterpret_cast<const Bytef*>(bytes.data()), uLong(bytes.size()));
  if (status != Z_OK) throw ResourceExhaustedError("zlib: out of memory");
  packed.resize(size);
  return packed;
}

}  // namespace distribute::summary_internal

namespace distribute::summary {

/// Source  PNG specification (ISO/IEC 15948), sections 5 and 11
DISTRIBUTE_INLINE std::string encode_png(std::span<const uint8_t> pixels, int64_t height,
                                         int64_t width, int64_t channels) {
  using summary_internal::png_chunk;
  const bool possible = channels >= 1 && channels <= 4 && height > 0 && width > 0 &&
                        height < (1 << 30) && width < (1 << 30);
  const int64_t row = width * channels;
  if (!possible || int64_t(pixels.size()) != height * row)
    throw InvalidArgumentError(str_cat("encode_png: wanted 1 to 4 channels, came [", height, ",",
                                       width, ",", channels, "] with ", pixels.size(), " bytes"));
  constexpr char kColorTypes[] = {0, 4, 2, 6};  // grey, grey + alpha, RGB, RGBA
  std::string header = summary_internal::big_endian(uint32_t(width)) +
                       summary_internal::big_endian(uint32_t(height));
  header += {8, kColorTypes[channels - 1], 0, 0, 0};
  std::string rows;
  for (int64_t y = 0; y < height; ++y) {
    rows += '\0';  // this row is not filtered
    rows.append(reinterpret_cast<const char*>(pixels.data()) + y * row, size_t(row));
  }
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) +
         png_chunk("IDAT", summary_internal::deflate_all(rows)) + png_chunk("IEND", "");
}

}  // namespace distribute::summary
