#pragma once
/// Reads and writes TensorBundles, the files of TensorFlow's checkpoints.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/checkpoint/detail/bundle_entry.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/tensor/tensorflow_data_type.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute::io {
enum class DataType : int32_t;
class RandomAccessFile;
}  // namespace distribute::io

namespace distribute::train {

/// Reads the index in the constructor, and tensors on demand; every checksum is verified. Damaged
/// files never crash the program nor make it allocate more than they hold. Errors name file, tensor
/// and reason: NotFoundError (no such file or tensor), DataLossError (damaged, truncated, another
/// format), UnimplementedError (compressed, big-endian). Thread-compatible.
/// Source  tf.train.load_checkpoint
class BundleReader {
 public:
  explicit BundleReader(std::string prefix);
  BundleReader(BundleReader&&) noexcept;
  BundleReader& operator=(BundleReader&&) noexcept;
  ~BundleReader();

  /// Returns the path without ".index"; num_shards() the number of its data files.
  const std::string& prefix() const { return prefix_; }
  int32_t num_shards() const { return header_.num_shards; }

  /// Returns the names of all tensors in byte order; a partitioned tensor counts once.
  std::vector<std::string> keys() const;
  bool contains(std::string_view key) const;
  /// Returns type, shape and position of a tensor.
  const BundleEntry& entry(std::string_view key) const;
  /// Returns all entries of the index, slices included.
  const BundleEntries& entries() const { return entries_; }

  /// Returns the elements of a numeric tensor, in row-major order.
  std::vector<std::byte> read(std::string_view key);
  /// Reads the elements into memory of exactly that many bytes.
  void read(std::string_view key, std::span<std::byte> out);
  /// Reads rows [begin, end) of the first axis into memory of exactly that many bytes, for tensors
  /// that do not fit into memory. It reads only these rows, and once, in small pieces, each slice
  /// that has some of them, to verify its checksum.
  /// Throws  InvalidArgumentError for a scalar and for rows that do not exist.
  void read_rows(std::string_view key, int64_t begin, int64_t end, std::span<std::byte> out);
  /// Returns the elements of a tensor of exactly type T (bool: read() gives bytes of 0 and 1).
  template <Element T>
  requires(!std::is_same_v<T, bool>) std::vector<T> read_values(std::string_view key) {
    const std::vector<std::byte> bytes = read_as(key, io::data_type_of(dtype_of<T>));
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  /// Throws  InvalidArgumentError when the tensor is in slices or holds no strings.
  std::vector<std::string> read_strings(std::string_view key);
  /// Throws  InvalidArgumentError also when the tensor is not a scalar.
  std::string read_string(std::string_view key);

  /// Closes the data files; a later read opens them again.
  void close_files();

  /// Reads everything once; throws the error of the first damaged tensor.
  void verify();
  /// Verifies one tensor; numeric ones are read in pieces.
  void verify(std::string_view key);

 private:
  std::vector<std::byte> read_as(std::string_view key, io::DataType dtype);
  const BundleEntry& numeric_entry(std::string_view key) const;
  void read_raw(std::string_view key, const BundleEntry& entry, std::span<char> out);
  void check_crc(std::string_view key, const BundleEntry& entry, uint32_t crc) const;
  void read_whole(std::string_view key, const BundleEntry& entry, std::span<std::byte> out);
  void read_slices(std::string_view key, const BundleEntry& entry, std::span<std::byte> out);
  const BundleEntry& part_entry(std::string_view key, const BundleEntry& whole,
                                const TensorSlice& slice) const;
  void check_slices(std::string_view key, const BundleEntry& entry);
  void verify_bytes(std::string_view key, const BundleEntry& entry);
  void read_rows_of_slice(std::string_view key, const BundleEntry& part, const TensorSlice& slice,
                          const std::vector<int64_t>& dims, std::pair<int64_t, int64_t> rows,
                          std::span<std::byte> out);
  void check_inside_file(std::string_view key, const BundleEntry& entry);
  io::RandomAccessFile& shard(int32_t shard_id);
  [[noreturn]] void fail(std::string_view key, const BundleEntry& entry,
                         const std::string& reason) const;

  std::string prefix_;
  BundleHeader header_;
  BundleEntries entries_;
  std::map<int32_t, std::unique_ptr<io::RandomAccessFile>> shards_;
  std::set<std::pair<int32_t, int64_t>> verified_;  // data file and offset
};

}  // namespace distribute::train

namespace distribute::io {
enum class DataType : int32_t;
class AtomicFile;
class FileSystem;
}  // namespace distribute::io

namespace distribute::train {

/// Writes tensors to a temporary data file at once; finish() makes them visible under PREFIX.
/// Thread-compatible.
/// 1. Until finish(), and after any failure, an older checkpoint of that name is unchanged.
/// 2. The destructor leaves no temporary file.
/// 3. On an object store, where two objects cannot change at the same time, an older index of that
///    name is removed right before the new data appear, so that no reader combines both; a failure
///    after that leaves neither.
/// 4. The bytes are those of SaveV2 when tensors are added in key order.
/// Source  tensorflow/core/util/tensor_bundle/tensor_bundle.h BundleWriter
class BundleWriter {
 public:
  /// Makes missing directories.
  /// Throws  PermissionDeniedError, ResourceExhaustedError (disk full) and others with the path.
  explicit BundleWriter(std::string prefix);
  BundleWriter(BundleWriter&&) noexcept;
  ~BundleWriter();

  /// Adds a numeric tensor from its row-major elements.
  /// Throws  InvalidArgumentError for an empty or repeated key and for a wrong number of bytes.
  void add(std::string_view key, io::DataType dtype, const std::vector<int64_t>& dims,
           std::span<const std::byte> bytes);
  void add(std::string_view key, DType dtype, const std::vector<int64_t>& dims,
           std::span<const std::byte> bytes) {
    add(key, io::data_type_of(dtype), dims, bytes);
  }

  /// Adds a string tensor; dims {} for a scalar.
  void add_strings(std::string_view key, const std::vector<int64_t>& dims,
                   std::span<const std::string> values);
  void add_string(std::string_view key, const std::string& value) {
    add_strings(key, {}, std::span(&value, 1));
  }

  /// Adds one part of a partitioned tensor; `dims` are the sizes of the whole.
  void add_slice(std::string_view key, io::DataType dtype, const std::vector<int64_t>& dims,
                 const TensorSlice& slice, std::span<const std::byte> bytes);

  /// Writes the index, flushes both files to the disk and renames them, the index last.
  void finish();

 private:
  [[noreturn]] void fail(std::string_view key, const std::string& reason) const;
  void check_new(std::string_view key) const;
  BundleEntry store(std::string_view key, io::DataType dtype, const std::vector<int64_t>& dims,
                    std::span<const std::byte> bytes);
  void append(std::string_view bytes);
  void commit_on_store(io::FileSystem& fs, io::AtomicFile& index);

  std::string prefix_;
  BundleEntries entries_;
  int64_t offset_ = 0;
  Pimpl<io::AtomicFile> data_;
};

/// Renames the data files of the parts to those of `prefix`, writes one index over them, and
/// removes the indexes of the parts and their directories where these are empty then. The slices
/// of a partitioned tensor may lie in several parts; a whole tensor may lie in one only. All parts
/// are checked before the first file is touched.
/// Throws  InvalidArgumentError for tensors that occur twice or disagree, and BundleReader's
///         errors for damaged parts.
/// Source  tf.raw_ops.MergeV2Checkpoints
void merge_bundles(const std::vector<std::string>& part_prefixes, const std::string& prefix);

}  // namespace distribute::train
