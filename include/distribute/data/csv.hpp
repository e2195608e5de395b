#pragma once
/// Datasets of the records of CSV files: values separated by commas or another character.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/node.hpp>
#include <distribute/io/detail/compression_type.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace distribute::data {

/// The type of a column. Bytes are text: uint8 [size] in an element, uint8 [batch, longest] in a
/// batch, filled up with 0.
enum class CsvType { Float32, Int32, Int64, Bytes };
/// What a column holds: its type if each record must have a value, else the value of an empty
/// field, whose type is the column's. Source  record_defaults of tf.data.experimental.CsvDataset
using CsvDefault = std::variant<CsvType, float, int32_t, int64_t, std::string>;

/// Holds the options of csv_dataset(). Source  tf.data.experimental.CsvDataset
struct CsvOptions {
  io::Compression compression_type = io::Compression::None;
  int64_t buffer_size = io::kReadBufferBytes;  // for each open file
  bool header = false;                         // whether to skip the first record of each file
  char field_delim = ',';
  bool use_quote_delim = true;  // false: quotes are characters of the fields
  std::string na_value = {};    // a further text that means an empty field
  /// The numbers of the columns to read, rising from 0; empty: all. At most one of the two is set.
  std::vector<int64_t> select_cols = {};
  std::vector<int64_t> exclude_cols = {};
};

/// Gives the records of `paths` as elements of one component for each of `record_defaults`. Records
/// end with a newline, a carriage return or both; fields in quotes may contain all of these, and
/// quotes that are doubled. AutoShardPolicy::File gives each worker other files. A saved position
/// holds the offset in the open file, so that restoring seeks to it.
/// Throws  InvalidArgumentError for no paths, no columns or options that do not fit; while reading,
///         with file, line and column, for a record of another number of fields, a field that is
///         empty and required or of another type, and quotes at a wrong place. The next call goes
///         on with the next record. NotFoundError, PermissionDeniedError, DataLossError.
/// Source  tf.data.experimental.CsvDataset
Dataset csv_dataset(std::vector<std::string> paths, std::vector<CsvDefault> record_defaults,
                    const CsvOptions& options = {});

/// A column by its name or its number.
using CsvColumn = std::variant<std::string, int64_t>;

/// Holds the options of make_csv_dataset(). Source  tf.data.experimental.make_csv_dataset
struct MakeCsvOptions {
  std::vector<std::string> column_names = {};    // empty: from the header
  std::vector<CsvDefault> column_defaults = {};  // of the selected columns; empty: inferred
  std::string label_name = {};                   // the column that becomes the last component
  std::vector<CsvColumn> select_columns = {};    // empty: all
  char field_delim = ',';
  bool use_quote_delim = true;
  std::string na_value = {};
  bool header = true;
  std::optional<int64_t> num_epochs = {};  // unset: without end
  bool shuffle = true;
  int64_t shuffle_buffer_size = 10'000;
  std::optional<uint64_t> shuffle_seed = {};  // used as ShuffleOptions::seed is
  int64_t prefetch_buffer_size = kAutotune;
  int64_t num_parallel_reads = 1;                       // files that are open and read in turn
  std::optional<int64_t> num_rows_for_inference = 100;  // unset: all
  io::Compression compression_type = io::Compression::None;
  bool ignore_errors = false;  // leaves bad records out
};

/// Gives batches of named columns of the files that match `file_pattern`, shuffled and repeated.
/// `batch["age"]` is a column; the label, if there is one, is the last component. Types that are
/// not given are those of the first records: int32, int64, float32 (also where TensorFlow takes
/// float64) or bytes; empty fields are then 0 or empty. Without `num_epochs` the last batch of each
/// pass is filled from the next.
/// Throws  NotFoundError for no files; InvalidArgumentError for names that are unknown, equal or
///         differ between headers; what csv_dataset() throws.
/// Source  tf.data.experimental.make_csv_dataset
Dataset make_csv_dataset(const std::string& file_pattern, int64_t batch_size,
                         const MakeCsvOptions& options = {});
Dataset make_csv_dataset(std::vector<std::string> paths, int64_t batch_size,
                         const MakeCsvOptions& options = {});

}  // namespace distribute::data
