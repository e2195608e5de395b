#pragma once
/// Writes checkpoints in TensorFlow's bundle format, and merges several into one.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/checkpoint/detail/bundle_entry.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/tensor/data_type_of.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
