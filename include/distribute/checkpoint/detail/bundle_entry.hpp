#pragma once
/// Contents of a checkpoint's index: a header, and type, shape and position of every tensor.

#include <distribute/checkpoint/detail/tensor_slice.hpp>
#include <distribute/tensor/tensorflow_data_type.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::train {

/// Source  tensorflow/core/protobuf/tensor_bundle.proto BundleHeaderProto
struct BundleHeader {
  int32_t num_shards = 1;
};

/// Source  tensorflow/core/protobuf/tensor_bundle.proto BundleEntryProto
struct BundleEntry {
  io::DataType dtype = io::DataType::Invalid;
  std::vector<int64_t> dims;
  int32_t shard_id = 0;
  int64_t offset = 0;
  int64_t size = 0;
  uint32_t crc32c = 0;  // masked
  // of a partitioned tensor, for which offset, size and crc are unused
  std::vector<TensorSlice> slices;

  /// Returns the number of elements of the whole tensor; decoding has checked that it fits.
  int64_t num_elements() const;
};

/// Every tensor, and every slice under its slice_key, in the order of the file.
using BundleEntries = std::map<std::string, BundleEntry, std::less<>>;

/// Whether the key is that of a slice, which is not a tensor itself.
inline bool is_slice_key(std::string_view key) { return key.starts_with('\0'); }

/// Returns the number of elements of a tensor with these sizes.
/// Throws  InvalidArgumentError for negative sizes and products beyond 2^63.
int64_t checked_num_elements(const std::vector<int64_t>& dims);

/// Returns the bytes of a whole .index file.
std::string encode_bundle_index(const BundleHeader& header, const BundleEntries& entries);

/// Parses a whole .index file; `file` is for messages.
/// Throws  DataLossError and others when it is damaged, truncated, of another format or too new.
BundleEntries decode_bundle_index(std::string_view bytes, const std::string& file,
                                  BundleHeader& header);

/// Returns PREFIX.index.
std::string bundle_index_path(const std::string& prefix);
/// Returns a name such as PREFIX.data-00000-of-00001.
std::string bundle_data_path(const std::string& prefix, int shard_id, int num_shards);

}  // namespace distribute::train

namespace distribute::checkpoint_internal {

/// Continues a string tensor's checksum over one length: as 32 bits if it fits, else as 64.
uint32_t extend_by_length(uint32_t crc, uint64_t length);

}  // namespace distribute::checkpoint_internal
