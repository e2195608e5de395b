#pragma once
/// Lines of text files as datasets.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>
#include <distribute/io/compression.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace distribute::data {

class Dataset;

/// Options of text_line_dataset(). Source  tf.data.TextLineDataset
struct TextLineOptions {
  io::Compression compression_type = io::Compression::None;
  int64_t buffer_size = io::kReadBufferBytes;  // bytes of each open file
  int64_t num_parallel_reads = 1;              // files open at a time, read in turn
};

/// The lines of `paths` as byte strings, uint8 [size] (data/bytes.hpp), without their ends;
/// carriage returns are dropped. AutoShardPolicy::File gives each worker other files. A saved
/// position is where the open files stand: restoring jumps there.
/// Throws  InvalidArgumentError for no paths, options below 1 or Compression::Auto. While reading:
///         NotFoundError, PermissionDeniedError, DataLossError.
/// Source  tf.data.TextLineDataset
Dataset text_line_dataset(std::vector<std::string> paths, const TextLineOptions& options = {});

}  // namespace distribute::data
