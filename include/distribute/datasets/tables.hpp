#pragma once
/// Datasets of the rows of tables (databases, Parquet files, Arrow files), and of WebDataset's tar
/// files, in which files of one name and several endings are a sample.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace distribute::data {

/// Gives the rows that `query` selects in the SQLite database `data_source_name`, as elements of
/// one component for each of `output_types`: scalars of Int32, Int64, Float32 or Bool, and UInt8
/// for texts and blobs, which become bytes (data/element_spec.hpp). NULL is 0, false or no bytes. A
/// database in an object store is read into memory. The position is the number of rows given, so
/// that a query needs an ORDER BY. Workers share the rows by AutoShardPolicy::Data.
/// Throws  InvalidArgumentError for another driver than "sqlite" or other types; while reading for
///         another number of columns; with row and column, for a value of another type or too large
///         for its type (TensorFlow gives 0 or the low bits). NotFoundError for a missing database;
///         UnknownError with SQLite's message; UnimplementedError in a build without
///         libsqlite3-dev.
/// Source  tf.data.experimental.SqlDataset
Dataset sql_dataset(const std::string& driver_name, const std::string& data_source_name,
                    const std::string& query, std::vector<DType> output_types);

/// Holds the options of parquet_dataset() and arrow_dataset().
struct TableOptions {
  std::vector<std::string> columns = {};  // to read, in this order; empty: all
  bool nulls_are_zero = false;  // missing values become 0, false or no bytes; else they are errors
};

/// Gives the rows of Parquet files as elements of one named component for each column: Bool; Int32
/// for integers of up to 32 bits; Int64 for longer ones, uint32, and times in the file's unit;
/// Float32 also for float64; UInt8 [size] for texts and bytes (data/element_spec.hpp); [size] for
/// lists of such numbers. A dictionary gives its values. AutoShardPolicy::File gives each worker
/// other files. A saved position holds the number of rows given of the open file; a restore passes
/// over row groups without reading them.
/// Throws  InvalidArgumentError for no files, and with the column's name for one that is missing,
///         twice there, of a type that is not listed, or of another type than in the first file;
///         while reading, with file, row and column, for a missing value and for a number that
///         does not fit. NotFoundError, PermissionDeniedError; DataLossError with Arrow's message
///         for a damaged file, which ends there; UnimplementedError in a build without Arrow's C++
///         library. After a bad row the next call goes on with the next one.
/// Source  tfio.IODataset.from_parquet of TensorFlow I/O, pyarrow.parquet
Dataset parquet_dataset(std::vector<std::string> paths, const TableOptions& options = {});
/// Gives the rows of files in Arrow's IPC format in the same way, of its file format (Feather
/// version 2) and its stream format.
Dataset arrow_dataset(std::vector<std::string> paths, const TableOptions& options = {});

/// Holds the options of web_dataset().
struct WebDatasetOptions {
  /// Makes int64 scalars of the files that hold a number: .cls, .cls2, .class, .count, .index,
  /// .inx and .id. Other files are bytes, as all are without it.
  bool decode = true;
  int64_t num_parallel_reads = 1;  // archives that are open at a time and read in turn
  /// Reads the archives in a new order in each pass; `seed` is used as in ShuffleOptions.
  bool shuffle_files = false;
  std::optional<uint64_t> seed = {};
};

/// Gives the samples of the tar archives `paths`, which may be compressed. A sample is the files
/// that follow each other and have the same name up to the first dot; component i is the file with
/// ending fields[i], such as "jpg", or with the first of several that is there, "jpg;jpeg;png". The
/// field "__key__" is the name. A component is named after the first ending of its field.
/// AutoShardPolicy::File gives each worker other archives. A saved position is the number of
/// samples in each open archive, whose files are passed over when it is restored.
/// Throws  InvalidArgumentError for no paths or fields; while reading, with archive and name, for a
///         sample that lacks a field or has text in place of a number. DataLossError for what is no
///         archive, or cut; NotFoundError, PermissionDeniedError; UnimplementedError in a build
///         without libarchive-dev.
/// Source  webdataset.WebDataset(urls).to_tuple(*fields), of PyTorch's users
Dataset web_dataset(std::vector<std::string> paths, std::vector<std::string> fields,
                    const WebDatasetOptions& options = {});

}  // namespace distribute::data
