#pragma once
/// Which compression a file has.

#include <distribute/base/config.hpp>

#include <cstdint>

namespace distribute::io {

/// How a file is compressed; Auto, for reading alone: as the file's first bytes tell.
/// Source  tf.data.TFRecordDataset(compression_type=...)
enum class Compression { None, Zlib, Gzip, Auto };

/// TensorFlow reads this number of bytes at a time.
inline constexpr int64_t kReadBufferBytes = 256 << 10;

}  // namespace distribute::io
