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

/// The index is read by the constructor, tensors when they are asked for; every checksum is
/// verified. Damaged files never crash the program nor make it allocate more than they hold.
/// Errors name file, tensor and reason: NotFoundError (no such file or tensor), DataLossError
/// (damaged, cut off, foreign), UnimplementedError (compressed, big-endian). Thread-compatible.
/// Source  tf.train.load_checkpoint
class BundleReader {
 public:
  explicit BundleReader(std::string prefix);
  BundleReader(BundleReader&&) noexcept;
  BundleReader& operator=(BundleReader&&) noexcept;
  ~BundleReader();

  /// The path without ".index", and the number of its files of data.
  const std::string& prefix() const { return prefix_; }
  int32_t num_shards() const { return header_.num_shards; }

  /// Names of all tensors in byte order; a partitioned tensor counts once.
  std::vector<std::string> keys() const;
  bool contains(std::string_view key) const;
  /// Type and shape (and place) of a tensor.
  const BundleEntry& entry(std::string_view key) const;
  /// Everything in the index, slices too.
  const BundleEntries& entries() const { return entries_; }

  /// The elements of a numeric tensor, in row-major order.
  std::vector<std::byte> read(std::string_view key);
  /// Does the same into memory of exactly that many bytes.
  void read(std::string_view key, std::span<std::byte> out);
  /// Rows [begin, end) of the first axis, into memory of exactly that many bytes: for tensors that
  /// do not fit into memory. Reads these rows alone, apart from what is needed to verify each slice
  /// that has some of them, which is done once and in small pieces.
  /// Throws  InvalidArgumentError for a scalar and for rows that are not there.
  void read_rows(std::string_view key, int64_t begin, int64_t end, std::span<std::byte> out);
  /// The elements of a tensor of exactly type T (bool: read() gives bytes of 0 and 1).
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

  /// Closes the data files; reading opens them again.
  void close_files();

  /// Reads everything once; throws the error of the first tensor that is damaged.
  void verify();
  /// The same for one tensor; numeric ones are never in memory as a whole.
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
