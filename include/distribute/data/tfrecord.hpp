#pragma once
/// TFRecord files as datasets.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/io/compression.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace distribute::data {

/// Options of tfrecord_dataset(). Source  tf.data.TFRecordDataset
struct TFRecordOptions {
  io::Compression compression_type = io::Compression::None;
  int64_t buffer_size = io::kReadBufferBytes;  // bytes of each open file
  int64_t num_parallel_reads = 1;              // files open at a time, read in turn
  /// Files in a new order in each pass; `seed` as in ShuffleOptions.
  bool shuffle_files = false;
  std::optional<uint64_t> seed = {};
  /// Adds a component: int64 [2], the number of the file in `paths` and of the record in it.
  bool with_origin = false;
};

/// The records of `paths` as byte strings, uint8 [size]. AutoShardPolicy::File gives each worker
/// other files. A saved position is where the open files stand: restoring jumps there.
/// Throws  InvalidArgumentError for no paths or options below 1. While reading: NotFoundError,
///         PermissionDeniedError; DataLossError for a wrong checksum or a cut-off record, with
///         file, record and offset, after the records before it; the next file goes on then.
/// Source  tf.data.TFRecordDataset
Dataset tfrecord_dataset(std::vector<std::string> paths, const TFRecordOptions& options = {});

/// Number of records in all files; reads their lengths only (whole files where they are
/// compressed). Throws  as reading them.
int64_t count_records(const std::vector<std::string>& paths,
                      io::Compression compression_type = io::Compression::None);

}  // namespace distribute::data
