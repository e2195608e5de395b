#pragma once
/// Datasets of the lines or records of files, and datasets saved in files.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/node.hpp>
#include <distribute/io/detail/compression_type.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace distribute::data {

/// Gives the numbers of `files` in order as int64 scalars, which are rows of a table. A worker's
/// share keeps the numbers of the whole list, so that a number means the same file on every worker.
/// Throws  InvalidArgumentError for no files.
/// Source  tf.data.Dataset.list_files(shuffle=False), with numbers in place of names
NodePtr file_list_source(std::vector<std::string> files);

/// Gives the files that match `pattern`, sorted: `*`, `?` and `[...]` in the last part of a path.
/// Throws  NotFoundError when there are no files or the directory is missing. It is also thrown
///         when a file such as train-00001-of-00004 matches and is missing while others of the four
///         exist; TensorFlow gives the others then.
/// Source  tf.io.gfile.glob
std::vector<std::string> match_files(const std::string& pattern);

class Dataset;

/// Holds the options of text_line_dataset(). Source  tf.data.TextLineDataset
struct TextLineOptions {
  io::Compression compression_type = io::Compression::None;
  int64_t buffer_size = io::kReadBufferBytes;  // for each open file
  int64_t num_parallel_reads = 1;              // files that are open at a time and read in turn
};

/// Gives the lines of `paths` as byte strings, uint8 [size] (data/element_spec.hpp), without line
/// ends; carriage returns are dropped. AutoShardPolicy::File gives each worker other files. A saved
/// position holds the offsets in the open files, so that restoring seeks to them.
/// Throws  InvalidArgumentError for no paths, options below 1 or Compression::Auto. While reading:
///         NotFoundError, PermissionDeniedError, DataLossError.
/// Source  tf.data.TextLineDataset
Dataset text_line_dataset(std::vector<std::string> paths, const TextLineOptions& options = {});

/// Holds the options of tfrecord_dataset(). Source  tf.data.TFRecordDataset
struct TFRecordOptions {
  io::Compression compression_type = io::Compression::None;
  int64_t buffer_size = io::kReadBufferBytes;  // for each open file
  int64_t num_parallel_reads = 1;              // files that are open at a time and read in turn
  /// Reads the files in a new order in each pass; `seed` is used as in ShuffleOptions.
  bool shuffle_files = false;
  std::optional<uint64_t> seed = {};
  /// Adds a component int64 [2]: the number of the file in `paths`, and of the record in the file.
  bool with_origin = false;
};

/// Gives the records of `paths` as byte strings, uint8 [size]. AutoShardPolicy::File gives each
/// worker other files. A saved position holds the offsets in the open files, so that restoring
/// seeks to them.
/// Throws  InvalidArgumentError for no paths or options below 1. While reading: NotFoundError,
///         PermissionDeniedError; DataLossError for a wrong checksum or a cut-off record, with
///         file, record and offset. It is thrown after the records before the damage; the next call
///         continues with the next file.
/// Source  tf.data.TFRecordDataset
Dataset tfrecord_dataset(std::vector<std::string> paths, const TFRecordOptions& options = {});

/// Holds the options of fixed_length_record_dataset(). Source  tf.data.FixedLengthRecordDataset
struct FixedLengthRecordOptions {
  int64_t header_bytes = 0;  // left out at the start of each file
  int64_t footer_bytes = 0;  // left out at its end
  io::Compression compression_type = io::Compression::None;
  int64_t buffer_size = io::kReadBufferBytes;  // for each open file
  int64_t num_parallel_reads = 1;              // files that are open at a time and read in turn
};

/// Gives pieces of `record_bytes` bytes of `paths` as byte strings, uint8 [record_bytes].
/// AutoShardPolicy::File gives each worker other files. A saved position is the number of records,
/// so that restoring seeks to it.
/// Throws  InvalidArgumentError for no paths, sizes that do not fit or Compression::Auto; while
///         reading for a file that is not whole records between header and footer: before its
///         first record, or, in a compressed file, a DataLossError at its end.
/// Source  tf.data.FixedLengthRecordDataset
Dataset fixed_length_record_dataset(std::vector<std::string> paths, int64_t record_bytes,
                                    const FixedLengthRecordOptions& options = {});

/// Counts the records in all files. It reads only their lengths, or whole files if they are
/// compressed.
/// Throws  what reading the files throws.
int64_t count_records(const std::vector<std::string>& paths,
                      io::Compression compression_type = io::Compression::None);

/// Writes all elements of a pass into the directory `path`, in a format that TensorFlow 2.21 loads.
/// Names are kept if every component has one. Files of an earlier save stay, but are no longer
/// found.
/// Throws  InvalidArgumentError for a dataset without an end; what writing files throws.
/// Source  tf.data.Dataset.save
void save_dataset(const Node& node, const std::string& path, io::Compression compression);

/// Holds the options of Dataset::load(). Source  tf.data.Dataset.load
struct LoadOptions {
  io::Compression compression = io::Compression::Auto;
  bool wait = false;  // for a snapshot that is not begun yet
  /// The longest wait for the beginning, or for the next chunk of a snapshot that is being written.
  double wait_seconds = 600;
};

/// Gives the saved elements in order; the elements of several shards alternate. A structure becomes
/// the list of its tensors as tf.nest flattens it; a dict also gives names. Strings become bytes
/// (data/element_spec.hpp). What data::service::distributed_save() writes is read chunk by chunk,
/// and may be unfinished: a pass then waits for the rest, takes chunks in the order in which they
/// come, and cannot be shared between workers.
/// Throws  NotFoundError if nothing is saved; DataLossError for damage; DeadlineExceededError after
///         wait_seconds; FailedPreconditionError with the reason when the workers have given up.
/// Source  tf.data.Dataset.load
NodePtr saved_source(const std::string& path, const LoadOptions& options);

/// Holds the options of Dataset::snapshot(). Source  tf.data.Dataset.snapshot
struct SnapshotOptions {
  io::Compression compression = io::Compression::None;
};

/// Gives the elements of a finished snapshot in `path` if there is one, and of the input otherwise,
/// which it writes there; a snapshot is finished when a pass reaches the end of the input. What a
/// writer leaves that was ended before is not read: each writer has a directory of its own. A
/// position is the number of elements given.
/// Throws  FailedPreconditionError for a snapshot of elements of another spec; what files throw.
/// Source  tf.data.Dataset.snapshot
NodePtr snapshot_node(NodePtr input, std::string path, const SnapshotOptions& options);

/// Does what cache_node() does, with the elements in `filename` (TFRecords of TensorProtos). The
/// file is written when a pass reaches the end of the input. If the file exists, it is read instead
/// of the input, by later programs too. Each worker needs its own file.
/// Source  tf.data.Dataset.cache(filename)
NodePtr file_cache_node(NodePtr input, std::string filename);

}  // namespace distribute::data
