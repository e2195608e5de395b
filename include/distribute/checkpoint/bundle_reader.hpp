#pragma once
/// Reads TensorFlow V2 checkpoints, in one or many data files, with whole and partitioned tensors.

#include <distribute/checkpoint/detail/bundle_entry.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/tensor/data_type_of.hpp>

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
  /// Throws  InvalidArgumentError also when the tensor is no scalar.
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
