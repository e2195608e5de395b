#pragma once
#include <distribute/checkpoint/bundle.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/io/compression.hpp>
#include <distribute/io/detail/wire.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE BundleWriter::BundleWriter(std::string prefix)
    : prefix_(std::move(prefix)),
      data_(new io::AtomicFile(
          value_or_throw(io::AtomicFile::create(bundle_data_path(prefix_, 0, 1))))) {}

DISTRIBUTE_INLINE BundleWriter::BundleWriter(BundleWriter&&) noexcept = default;
DISTRIBUTE_INLINE BundleWriter::~BundleWriter() = default;

DISTRIBUTE_INLINE void BundleWriter::fail(std::string_view key, const std::string& reason) const {
  throw InvalidArgumentError(str_cat("checkpoint ", prefix_, ": tensor '", key, "': ", reason));
}

DISTRIBUTE_INLINE void BundleWriter::check_new(std::string_view key) const {
  if (!data_) throw FailedPreconditionError("checkpoint " + prefix_ + ": already finished");
  if (key.empty()) fail(key, "the key is empty");
  if (is_slice_key(key)) fail(key, "keys must not start with a zero byte");
  if (entries_.contains(key)) fail(key, "was added before");
}

/// Writes in pieces, between which a writer in the background pauses.
DISTRIBUTE_INLINE void BundleWriter::append(std::string_view bytes) {
  constexpr size_t kPiece = 4 << 20;
  offset_ += int64_t(bytes.size());
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kPiece, bytes.size()))) {
    throw_if_error(data_->append(bytes.substr(0, kPiece)));
    CpuShareScope::pause();
  }
}

DISTRIBUTE_INLINE BundleEntry BundleWriter::store(std::string_view key, io::DataType dtype,
                                                  const std::vector<int64_t>& dims,
                                                  std::span<const std::byte> bytes) {
  const int64_t elements = checked_num_elements(dims), item = io::size_of(dtype);
  const int64_t size = int64_t(bytes.size());
  if (item == 0) fail(key, str_cat("type ", io::name_of(dtype), " is not numeric"));
  if (size % item != 0 || size / item != elements) {
    fail(key, str_cat("wanted ", elements, " elements of ", item, " bytes, came ", size, " bytes"));
  }
  const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  BundleEntry entry;
  entry.dtype = dtype;
  entry.dims = dims;
  entry.offset = offset_;
  entry.size = size;
  entry.crc32c = io::mask_crc(io::crc32c(view));
  append(view);
  return entry;
}

DISTRIBUTE_INLINE void BundleWriter::add(std::string_view key, io::DataType dtype,
                                         const std::vector<int64_t>& dims,
                                         std::span<const std::byte> bytes) {
  check_new(key);
  entries_.emplace(key, store(key, dtype, dims, bytes));
}

DISTRIBUTE_INLINE void BundleWriter::add_strings(std::string_view key,
                                                 const std::vector<int64_t>& dims,
                                                 std::span<const std::string> values) {
  check_new(key);
  const int64_t elements = checked_num_elements(dims);
  if (elements != int64_t(values.size())) {
    fail(key, str_cat("wanted ", elements, " strings, came ", values.size()));
  }
  std::string head;  // the lengths and their checksum
  uint32_t crc = 0;
  for (const std::string& value : values) {
    io::append_varint(head, value.size());
    crc = checkpoint_internal::extend_by_length(crc, value.size());
  }
  std::string checksum;
  io::append_fixed32(checksum, io::mask_crc(crc));
  crc = io::crc32c_extend(crc, checksum);
  BundleEntry entry;
  entry.dtype = io::DataType::String;
  entry.dims = dims;
  entry.offset = offset_;
  append(head + checksum);
  for (const std::string& value : values) {
    crc = io::crc32c_extend(crc, value);
    append(value);
  }
  entry.size = offset_ - entry.offset;
  entry.crc32c = io::mask_crc(crc);
  entries_.emplace(key, std::move(entry));
}

DISTRIBUTE_INLINE void BundleWriter::add_slice(std::string_view key, io::DataType dtype,
                                               const std::vector<int64_t>& dims,
                                               const TensorSlice& slice,
                                               std::span<const std::byte> bytes) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    check_new(key);
  } else if (found->second.slices.empty() || found->second.dims != dims ||
             found->second.dtype != dtype) {
    fail(key, "was added before, whole or with another type or shape");
  }
  std::string part_key = slice_key(key, slice);
  if (entries_.contains(part_key)) fail(key, "the same slice was added before");
  BundleEntry part = store(key, dtype, slice_dims(slice, dims), bytes);
  entries_.emplace(std::move(part_key), std::move(part));
  BundleEntry& whole = entries_[std::string(key)];
  whole.dtype = dtype;
  whole.dims = dims;
  whole.slices.push_back(slice);
}

/// At any moment, an index exists only together with its own data.
DISTRIBUTE_INLINE void BundleWriter::commit_on_store(io::FileSystem& fs, io::AtomicFile& index) {
  const std::string index_path = bundle_index_path(prefix_);
  const absl::Status removed = fs.remove_file(index_path);
  if (!absl::IsNotFound(removed)) throw_if_error(removed);
  absl::Status status = data_->commit();
  if (status.ok()) status = index.commit();
  if (status.ok()) return;
  // The index first: a request that seemed to fail may have been carried out.
  fs.remove_file(index_path).IgnoreError();
  fs.remove_file(bundle_data_path(prefix_, 0, 1)).IgnoreError();
  throw_if_error(status);
}

DISTRIBUTE_INLINE void BundleWriter::finish() {
  if (!data_) throw FailedPreconditionError("checkpoint " + prefix_ + ": already finished");
  auto index = value_or_throw(io::AtomicFile::create(bundle_index_path(prefix_)));
  throw_if_error(index.append(encode_bundle_index({.num_shards = 1}, entries_)));
  // Both files are on the disk before either is renamed: a full disk shows up here.
  throw_if_error(data_->prepare());
  throw_if_error(index.prepare());
  io::FileSystem& fs = *value_or_throw(io::file_system_for(prefix_));
  if (fs.has_atomic_move()) {
    throw_if_error(data_->commit());
    throw_if_error(index.commit());
  } else {
    commit_on_store(fs, index);
  }
  data_ = nullptr;
}

}  // namespace distribute::train
