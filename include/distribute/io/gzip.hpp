#pragma once
/// Gzip and zlib compressed files (through zlib): whole, or as streams.

#include <distribute/io/compression.hpp>
#include <distribute/io/stream.hpp>

namespace distribute::io {

/// TensorFlow's names of compression types: "" (None), "ZLIB", "GZIP". InvalidArgument for others.
absl::StatusOr<Compression> compression_from_name(std::string_view name);

/// How a file of TFRecords is compressed that begins with these bytes, of which twelve are enough.
Compression detect_compression(std::string_view start);

/// True for bytes that start as a gzip file does.
bool is_gzip(std::string_view bytes);

/// The contents of a gzip file in memory (all its members); `name` is for messages.
/// DataLoss when it is cut off, damaged or not gzip at all.
absl::StatusOr<std::string> decompress_gzip(std::string_view bytes, const std::string& name);

/// The decompressed contents of a .gz file.
absl::StatusOr<std::string> read_gzip_file(const std::string& path);

/// Opens a file for reading from front to back, decompressing on the way. Auto is for TFRecords.
absl::StatusOr<std::unique_ptr<InputStream>> open_input_stream(
    const std::string& path, Compression compression, int64_t buffer_bytes = kReadBufferBytes);

/// Creates a file whose appended bytes are compressed on the way; close() writes the end mark.
/// InvalidArgument for Auto.
absl::StatusOr<std::unique_ptr<WritableFile>> create_file(const std::string& path,
                                                          Compression compression);

}  // namespace distribute::io
