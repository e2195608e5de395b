#pragma once
/// How the bytes of files are compressed and checked.

#include <distribute/base/config.hpp>
#include <distribute/io/detail/compression_type.hpp>
#include <distribute/io/file_system.hpp>

#include <cstdint>
#include <string_view>

namespace distribute::io {

/// Bytes that are read in order. Thread-compatible.
class InputStream {
 public:
  virtual ~InputStream() = default;
  /// Returns the path that the stream was opened from, for messages.
  virtual const std::string& name() const = 0;
  /// Reads up to out.size() bytes and returns their number. It returns 0 only at the end, or for an
  /// empty `out`.
  virtual absl::StatusOr<size_t> read_some(std::span<char> out) = 0;
  /// Skips up to `count` bytes and returns their number, which is smaller only at the end. A file
  /// that is not compressed seeks; any other stream reads.
  DISTRIBUTE_INLINE virtual absl::StatusOr<uint64_t> skip(uint64_t count);
};

/// Reads a file through a buffer.
absl::StatusOr<std::unique_ptr<InputStream>> open_input_stream(
    const std::string& path, int64_t buffer_bytes = kReadBufferBytes);

/// Reads bytes that the caller keeps alive.
std::unique_ptr<InputStream> memory_input_stream(std::string_view bytes, std::string name);

/// Appends up to `size` bytes to `out` and returns their number, which is smaller only at the end.
/// Memory grows with the bytes that exist, so that a wrong length field cannot allocate much.
absl::StatusOr<size_t> append_from(InputStream& stream, size_t size, std::string& out);

/// Parses TensorFlow's names of compression types: "" (None), "ZLIB", "GZIP".
/// Returns  InvalidArgument for other names.
absl::StatusOr<Compression> compression_from_name(std::string_view name);

/// Guesses how a TFRecord file that begins with these bytes is compressed; twelve bytes are enough.
Compression detect_compression(std::string_view start);

/// Returns true for bytes that start as a gzip file does.
bool is_gzip(std::string_view bytes);

/// Decompresses a gzip file in memory (all its members); `name` is for messages.
/// Returns  DataLoss when the bytes are cut off, damaged or not gzip.
absl::StatusOr<std::string> decompress_gzip(std::string_view bytes, const std::string& name);

/// Compresses bytes in memory, fast rather than small.
std::string compress_zlib(std::string_view bytes);

/// Decompresses what compress_zlib() gave; `name` is for messages.
/// Returns  DataLoss when the bytes are cut off, damaged or not compressed so.
absl::StatusOr<std::string> decompress_zlib(std::string_view bytes, const std::string& name);

/// Opens a file for reading from front to back and decompresses it. Auto is meant for TFRecords.
absl::StatusOr<std::unique_ptr<InputStream>> open_input_stream(
    const std::string& path, Compression compression, int64_t buffer_bytes = kReadBufferBytes);

/// Creates a file that compresses the bytes appended to it; close() writes the end mark.
/// Returns  InvalidArgument for Auto.
absl::StatusOr<std::unique_ptr<WritableFile>> create_file(const std::string& path,
                                                          Compression compression);

/// Extends `crc`, the checksum of some bytes, to the checksum of those bytes followed by `bytes`.
/// Uses SSE4.2 where the CPU has it.
uint32_t crc32c_extend(uint32_t crc, std::string_view bytes);

inline uint32_t crc32c(std::string_view bytes) { return crc32c_extend(0, bytes); }  // Castagnoli

/// Masks a checksum as files store it, because the checksum of data that contains its own checksum
/// is weak.
/// Source  leveldb util/crc32c.h
constexpr uint32_t mask_crc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace distribute::io
