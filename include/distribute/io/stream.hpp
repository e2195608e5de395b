#pragma once
/// Bytes that come from front to back: a file, memory, or a decompressor over either.

#include <distribute/io/compression.hpp>
#include <distribute/io/file_system.hpp>

namespace distribute::io {

/// Bytes that are read in order. Thread-compatible.
class InputStream {
 public:
  virtual ~InputStream() = default;
  /// For messages: the path it was opened from.
  virtual const std::string& name() const = 0;
  /// Reads up to out.size() bytes and returns their number; 0 only at the end (or for empty `out`).
  virtual absl::StatusOr<size_t> read_some(std::span<char> out) = 0;
  /// Drops up to `count` bytes and returns their number; fewer only at the end. A file that is not
  /// compressed jumps, anything else reads.
  DISTRIBUTE_INLINE virtual absl::StatusOr<uint64_t> skip(uint64_t count);
};

/// Reads a file through a buffer.
absl::StatusOr<std::unique_ptr<InputStream>> open_input_stream(
    const std::string& path, int64_t buffer_bytes = kReadBufferBytes);

/// Reads bytes that the caller keeps alive.
std::unique_ptr<InputStream> memory_input_stream(std::string_view bytes, std::string name);

/// Appends up to `size` bytes to `out` and returns their number; fewer only at the end. Memory
/// grows with what is really there, so that a length field that lies costs nothing.
absl::StatusOr<size_t> append_from(InputStream& stream, size_t size, std::string& out);

}  // namespace distribute::io
