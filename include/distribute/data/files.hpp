#pragma once
/// Datasets of the lines or records of files, and datasets saved to files.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/node.hpp>
#include <distribute/io/detail/compression_type.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace distribute::data {

/// The numbers of `files` in order, int64 scalars, as rows of a table. A worker's share keeps the
/// numbers of the whole list, so that they name the same file on every worker.
/// Throws  InvalidArgumentError for no files.
/// Source  tf.data.Dataset.list_files(shuffle=False), with numbers in place of names
NodePtr file_list_source(std::vector<std::string> files);

/// The files that match `pattern`, sorted: `*`, `?` and `[...]` in the last part of a path.
/// Throws  NotFoundError when there are none or the directory is missing, and when a file such as
///         train-00001-of-00004 would match and is missing while others of the four are there,
///         where TensorFlow gives the others.
/// Source  tf.io.gfile.glob
std::vector<std::string> match_files(const std::string& pattern);

class Dataset;

/// Options of text_line_dataset(). Source  tf.data.TextLineDataset
struct TextLineOptions {
  io::Compression compression_type = io::Compression::None;
  int64_t buffer_size = io::kReadBufferBytes;  // bytes of each open file
  int64_t num_parallel_reads = 1;              // files open at a time, read in turn
};

/// The lines of `paths` as byte strings, uint8 [size] (data/element_spec.hpp), without their ends;
/// carriage returns are dropped. AutoShardPolicy::File gives each worker other files. A saved
/// position is where the open files stand: restoring jumps there.
/// Throws  InvalidArgumentError for no paths, options below 1 or Compression::Auto. While reading:
///         NotFoundError, PermissionDeniedError, DataLossError.
/// Source  tf.data.TextLineDataset
Dataset text_line_dataset(std::vector<std::string> paths, const TextLineOptions& options = {});

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

/// Writes all elements of a pass into the directory `path`, in TensorFlow's format: TensorFlow 2.21
/// loads it. Names are kept where every component has one. What was saved there before stays as it
/// is, but is not found any more.
/// Throws  InvalidArgumentError for a dataset without an end; what writing files throws.
/// Source  tf.data.Dataset.save
void save_dataset(const Node& node, const std::string& path, io::Compression compression);

/// The elements in order; those of several shards in turn. A structure becomes the row of its
/// tensors as tf.nest flattens it, a dict one with names. Strings become bytes
/// (data/element_spec.hpp). Throws  NotFoundError where nothing is saved; DataLossError for damage.
/// Source  tf.data.Dataset.load
NodePtr saved_source(const std::string& path, io::Compression compression);

/// As cache_node, with the elements in `filename` (TFRecords of TensorProtos), which is written
/// when a pass has come to the end of the input. Where the file exists it is read, by later
/// programs too, and the input is not. Workers need files of their own.
/// Source  tf.data.Dataset.cache(filename)
NodePtr file_cache_node(NodePtr input, std::string filename);

}  // namespace distribute::data
