#pragma once
/// The ways in which a file can be compressed.

#include <distribute/base/config.hpp>

#include <cstdint>

namespace distribute::io {

/// Says how a file is compressed. Auto is for reading alone and decides by the file's first bytes.
/// Source  tf.data.TFRecordDataset(compression_type=...)
enum class Compression { None, Zlib, Gzip, Auto };

/// TensorFlow reads this number of bytes at a time.
inline constexpr int64_t kReadBufferBytes = 256 << 10;

}  // namespace distribute::io
