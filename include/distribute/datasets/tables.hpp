#pragma once
/// Datasets of the rows of tables (databases, Parquet files, Arrow files), of WebDataset's tar
/// files, in which files of one name and several endings are a sample, and of the pictures and
/// texts of a directory.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/decode_image.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

/// The labels of the files of a directory: "inferred" from the names of its folders, std::nullopt
/// for none, or one number for each file in the order of the paths.
/// Throws  InvalidArgumentError for a text other than "inferred".
class DirectoryLabels {
 public:
  DirectoryLabels(const char* inferred = "inferred");
  DirectoryLabels(std::nullopt_t) : are_inferred_(false) {}
  DirectoryLabels(std::vector<int32_t> numbers)
      : are_inferred_(false), numbers_(std::move(numbers)) {}
  DirectoryLabels(std::initializer_list<int32_t> numbers)
      : DirectoryLabels(std::vector<int32_t>(numbers)) {}
  bool are_inferred() const { return are_inferred_; }
  /// The given numbers, if there are any.
  const std::optional<std::vector<int32_t>>& numbers() const { return numbers_; }

 private:
  bool are_inferred_ = true;
  std::optional<std::vector<int32_t>> numbers_ = {};
};

/// A dataset of the files of a directory, with what Keras keeps beside it.
struct DirectoryDataset : Dataset {
  std::vector<std::string> class_names = {};  // a label is an index into them; empty without labels
  std::vector<std::string> file_paths = {};   // in Keras's order; a pass draws its own from it
};

/// Options of image_dataset_from_directory(). Source  tf.keras.utils.image_dataset_from_directory
struct ImageDirectoryOptions {
  DirectoryLabels labels = "inferred";
  /// "int" gives int32 scalars, "binary" float32 [1], "categorical" float32 [classes]; nullopt
  /// leaves the labels out.
  std::optional<std::string> label_mode = "int";
  std::vector<std::string> class_names =
      {};                                  // the folders that are read, in this order; empty: all
  std::string color_mode = "rgb";          // or "grayscale", "rgba"
  std::optional<int64_t> batch_size = 32;  // nullopt: no batches
  ImageSize image_size = {256, 256};
  bool shuffle = true;                          // the files once by `seed`, and anew in each pass
  std::optional<uint64_t> seed = {};            // below 2^32; unset: random::next_seed()
  std::optional<double> validation_split = {};  // the share of the files that is for validation
  std::optional<std::string> subset = {};       // "training" or "validation"
  /// Or "nearest", which gives uint8, "bicubic", "area", "lanczos3", "lanczos5", "gaussian",
  /// "mitchellcubic".
  std::string interpolation = "bilinear";
  bool follow_links = false;
  bool crop_to_aspect_ratio = false;  // takes the largest part in the middle with the wanted ratio
  bool pad_to_aspect_ratio = false;   // puts zeros around the whole picture
  std::optional<std::string> data_format = {};  // "channels_last", or "channels_first"
  bool verbose = true;                          // prints the number of files and classes
};

/// Gives the pictures below `directory` (.bmp, .gif, .jpeg, .jpg, .png), float32 from 0 to 255,
/// with their labels. Files, labels, split and first order are Keras's; the order of a pass is that
/// of Dataset::shuffle with a buffer of 8 batches. Without inferred labels, files of all folders
/// are read. Workers share the pictures by AutoShardPolicy::Data.
/// Shapes  [batch, height, width, channels], and labels as `label_mode` says.
/// Throws  InvalidArgumentError for options that exclude each other, numbers of labels or names of
///         classes that do not fit, no files, and no files for validation; while reading, with the
///         path, for files that decode_image() refuses. NotFoundError; PermissionDeniedError.
/// Source  tf.keras.utils.image_dataset_from_directory
DirectoryDataset image_dataset_from_directory(const std::string& directory,
                                              const ImageDirectoryOptions& options = {});
/// Gives both parts of a split, for training and for validation. The second one is not shuffled.
/// Source  tf.keras.utils.image_dataset_from_directory(subset="both")
std::pair<DirectoryDataset, DirectoryDataset> image_datasets_from_directory(
    const std::string& directory, const ImageDirectoryOptions& options);

/// Options of text_dataset_from_directory(), as those of pictures.
/// Source  tf.keras.utils.text_dataset_from_directory
struct TextDirectoryOptions {
  DirectoryLabels labels = "inferred";
  std::optional<std::string> label_mode = "int";
  std::vector<std::string> class_names = {};
  std::optional<int64_t> batch_size = 32;
  std::optional<int64_t> max_length = {};  // of bytes; longer texts are cut. Unset: all
  bool shuffle = true;
  std::optional<uint64_t> seed = {};
  std::optional<double> validation_split = {};
  std::optional<std::string> subset = {};
  bool follow_links = false;
  bool verbose = true;
};

/// Gives the texts of the files .txt below `directory` as bytes (data/element_spec.hpp), with their
/// labels, as image_dataset_from_directory() gives pictures.
/// Shapes  uint8 [batch, longest], filled up with 0; [size] without batches.
/// Source  tf.keras.utils.text_dataset_from_directory
DirectoryDataset text_dataset_from_directory(const std::string& directory,
                                             const TextDirectoryOptions& options = {});
/// Source  tf.keras.utils.text_dataset_from_directory(subset="both")
std::pair<DirectoryDataset, DirectoryDataset> text_datasets_from_directory(
    const std::string& directory, const TextDirectoryOptions& options);

}  // namespace distribute::data
