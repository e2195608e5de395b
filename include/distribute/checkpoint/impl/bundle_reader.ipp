#pragma once
#include <distribute/checkpoint/bundle.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/io/compression.hpp>
#include <distribute/io/detail/wire.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <utility>

namespace distribute::checkpoint_internal {

/// Opens the index. The error has a hint for a directory given instead of a prefix, and for a state
/// file that names a missing checkpoint.
DISTRIBUTE_INLINE std::string read_bundle_index(const std::string& prefix) {
  auto bytes = io::read_file(train::bundle_index_path(prefix));
  if (bytes.ok()) return *std::move(bytes);
  io::FileSystem& fs = *value_or_throw(io::file_system_for(prefix));
  const auto is_directory = fs.is_directory(prefix);
  const bool hint = is_directory.ok() && *is_directory;
  const std::string cure =
      absl::IsNotFound(bytes.status()) ? cure_of_missing_checkpoint(prefix) : "";
  throw_if_error(
      make_status(StatusCode(bytes.status().code()),
                  str_cat("checkpoint ", prefix,
                          hint ? " (a directory: name a prefix in it such as ckpt-1)" : "", ": ",
                          bytes.status().message(), cure)));
  return {};
}

/// Takes a string tensor's bytes apart: lengths, their checksum, the strings. `crc` becomes the
/// checksum of all, in which lengths count with fixed width, not as the varints they are stored as.
DISTRIBUTE_INLINE bool decode_strings(std::string_view bytes, int64_t count,
                                      std::vector<std::string>& values, uint32_t& crc) {
  if (count > int64_t(bytes.size())) return false;  // each length takes a byte at least
  std::vector<uint64_t> lengths(size_t(count), 0);
  for (uint64_t& length : lengths) {
    if (!io::take_varint(bytes, length)) return false;
    crc = extend_by_length(crc, length);
  }
  const std::string_view checksum = bytes.substr(0, 4);
  uint32_t stored = 0;
  if (!io::take_fixed32(bytes, stored) || stored != io::mask_crc(crc)) return false;
  crc = io::crc32c_extend(io::crc32c_extend(crc, checksum), bytes);
  for (const uint64_t length : lengths) {
    std::string_view value;
    if (!io::take_bytes(bytes, length, value)) return false;
    values.emplace_back(value);
  }
  return bytes.empty();
}

}  // namespace distribute::checkpoint_internal

namespace distribute::train {

DISTRIBUTE_INLINE BundleReader::BundleReader(std::string prefix) : prefix_(std::move(prefix)) {
  const std::string bytes = checkpoint_internal::read_bundle_index(prefix_);
  entries_ = decode_bundle_index(bytes, bundle_index_path(prefix_), header_);
}

DISTRIBUTE_INLINE BundleReader::BundleReader(BundleReader&&) noexcept = default;
DISTRIBUTE_INLINE BundleReader& BundleReader::operator=(BundleReader&&) noexcept = default;
DISTRIBUTE_INLINE BundleReader::~BundleReader() = default;

DISTRIBUTE_INLINE std::vector<std::string> BundleReader::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, entry] : entries_) {
    if (!is_slice_key(key)) keys.push_back(key);
  }
  return keys;
}

DISTRIBUTE_INLINE bool BundleReader::contains(std::string_view key) const {
  return !is_slice_key(key) && entries_.contains(key);
}

DISTRIBUTE_INLINE const BundleEntry& BundleReader::entry(std::string_view key) const {
  const auto found = entries_.find(key);
  if (found != entries_.end()) return found->second;
  throw NotFoundError(str_cat("checkpoint ", prefix_, ": holds no tensor '", key, "'"));
}

DISTRIBUTE_INLINE void BundleReader::fail(std::string_view key, const BundleEntry& entry,
                                          const std::string& reason) const {
  throw DataLossError(str_cat(bundle_data_path(prefix_, entry.shard_id, header_.num_shards),
                              ": tensor '", key, "' at offset ", entry.offset, ": ", reason));
}

DISTRIBUTE_INLINE io::RandomAccessFile& BundleReader::shard(int32_t shard_id) {
  std::unique_ptr<io::RandomAccessFile>& file = shards_[shard_id];
  if (!file) {
    const std::string path = bundle_data_path(prefix_, shard_id, header_.num_shards);
    auto opened = value_or_throw(io::file_system_for(path))->open(path);
    throw_if_error(annotate(opened.status(), "checkpoint " + prefix_));
    file = *std::move(opened);
  }
  return *file;
}

DISTRIBUTE_INLINE void BundleReader::check_inside_file(std::string_view key,
                                                       const BundleEntry& entry) {
  const int64_t file_size = shard(entry.shard_id).size();
  if (entry.size <= file_size && entry.offset <= file_size - entry.size) return;
  fail(key, entry,
       str_cat("needs ", entry.size, " bytes, but the file has only ", file_size,
               ": it is cut off or belongs to another checkpoint"));
}

DISTRIBUTE_INLINE void BundleReader::read_raw(std::string_view key, const BundleEntry& entry,
                                              std::span<char> out) {
  check_inside_file(key, entry);
  if (int64_t(out.size()) != entry.size) fail(key, entry, "has a size that does not fit its shape");
  throw_if_error(
      annotate(shard(entry.shard_id).read(entry.offset, out), str_cat("tensor '", key, "'")));
}

DISTRIBUTE_INLINE void BundleReader::check_crc(std::string_view key, const BundleEntry& entry,
                                               uint32_t crc) const {
  const uint32_t computed = io::mask_crc(crc);
  if (computed == entry.crc32c) return;
  fail(key, entry,
       str_cat("the checksum does not match (stored ", entry.crc32c, ", computed ", computed,
               "): the file is damaged"));
}

DISTRIBUTE_INLINE void BundleReader::read_whole(std::string_view key, const BundleEntry& entry,
                                                std::span<std::byte> out) {
  const std::span<char> chars(reinterpret_cast<char*>(out.data()), out.size());
  read_raw(key, entry, chars);
  check_crc(key, entry, io::crc32c({chars.data(), chars.size()}));
}

DISTRIBUTE_INLINE const BundleEntry& BundleReader::part_entry(std::string_view key,
                                                              const BundleEntry& whole,
                                                              const TensorSlice& slice) const {
  const auto found = entries_.find(slice_key(key, slice));
  if (found == entries_.end()) fail(key, whole, "one of its slices is missing from the index");
  const BundleEntry& part = found->second;
  if (part.dtype != whole.dtype || !part.slices.empty() ||
      part.dims != slice_dims(slice, whole.dims)) {
    fail(key, part, "a slice has another type or shape than the whole tensor says");
  }
  return part;
}

/// Slices must cover the tensor exactly once. Their bytes all lie in the data files, so a tensor
/// that passes is no larger than the files.
DISTRIBUTE_INLINE void BundleReader::check_slices(std::string_view key, const BundleEntry& entry) {
  int64_t elements = 0, bytes_in_files = 0;
  std::set<int32_t> files;
  for (const TensorSlice& slice : entry.slices) {
    const BundleEntry& part = part_entry(key, entry, slice);
    check_inside_file(key, part);
    if (files.insert(part.shard_id).second) bytes_in_files += shard(part.shard_id).size();
    if (__builtin_add_overflow(elements, part.num_elements(), &elements)) elements = -1;
    if (elements < 0 || elements > entry.num_elements()) fail(key, part, "slices overlap");
  }
  if (elements != entry.num_elements()) fail(key, entry, "slices do not cover the whole tensor");
  if (elements * io::size_of(entry.dtype) > bytes_in_files) {
    fail(key, entry, "is larger than the data files");
  }
  if (slices_overlap(entry.slices, entry.dims)) fail(key, entry, "slices overlap");
}

/// Verifies the bytes unless that was done before.
DISTRIBUTE_INLINE void BundleReader::verify_bytes(std::string_view key, const BundleEntry& entry) {
  if (verified_.contains({entry.shard_id, entry.offset})) return;
  check_inside_file(key, entry);
  if (entry.num_elements() * io::size_of(entry.dtype) != entry.size) {
    fail(key, entry, "has a size that does not fit its shape");
  }
  std::vector<char> piece(size_t(std::min<int64_t>(entry.size, int64_t{1} << 20)));
  uint32_t crc = 0;
  for (int64_t done = 0; done < entry.size;) {
    const std::span<char> part(piece.data(),
                               size_t(std::min<int64_t>(entry.size - done, int64_t(piece.size()))));
    throw_if_error(annotate(shard(entry.shard_id).read(entry.offset + done, part),
                            str_cat("tensor '", key, "'")));
    crc = io::crc32c_extend(crc, {part.data(), part.size()});
    done += int64_t(part.size());
  }
  check_crc(key, entry, crc);
  verified_.emplace(entry.shard_id, entry.offset);
}

DISTRIBUTE_INLINE void BundleReader::read_slices(std::string_view key, const BundleEntry& entry,
                                                 std::span<std::byte> out) {
  const int64_t item = io::size_of(entry.dtype);
  for (const TensorSlice& slice : entry.slices) {
    const BundleEntry& part = part_entry(key, entry, slice);
    std::vector<std::byte> bytes(size_t(part.size));
    read_whole(key, part, bytes);
    for (const SliceRun& run : slice_runs(slice, entry.dims)) {
      std::memcpy(out.data() + run.tensor_offset * item, bytes.data() + run.slice_offset * item,
                  size_t(run.count * item));
    }
  }
}

DISTRIBUTE_INLINE const BundleEntry& BundleReader::numeric_entry(std::string_view key) const {
  const BundleEntry& found = entry(key);
  if (io::size_of(found.dtype) > 0) return found;
  throw InvalidArgumentError(str_cat("checkpoint ", prefix_, ": tensor '", key, "' of type ",
                                     io::name_of(found.dtype), " (", int(found.dtype),
                                     ") is not numeric"));
}

DISTRIBUTE_INLINE std::vector<std::byte> BundleReader::read(std::string_view key) {
  const BundleEntry& found = numeric_entry(key);
  // The size is checked before memory is allocated, so that an index with wrong sizes costs none.
  if (found.slices.empty()) {
    check_inside_file(key, found);
  } else {
    check_slices(key, found);
  }
  std::vector<std::byte> bytes(size_t(found.num_elements() * io::size_of(found.dtype)));
  read(key, bytes);
  return bytes;
}

DISTRIBUTE_INLINE void BundleReader::read(std::string_view key, std::span<std::byte> out) {
  const BundleEntry& found = numeric_entry(key);
  const int64_t wanted = found.num_elements() * io::size_of(found.dtype);
  if (wanted != int64_t(out.size())) {
    throw InvalidArgumentError(str_cat("checkpoint ", prefix_, ": tensor '", key, "' has ", wanted,
                                       " bytes, but the memory to read into has ", out.size()));
  }
  if (found.slices.empty()) return read_whole(key, found, out);
  check_slices(key, found);
  read_slices(key, found, out);
}

/// `part` is the entry of `slice`; `rows` are the tensor's, and `out` begins with the first of
/// them.
DISTRIBUTE_INLINE void BundleReader::read_rows_of_slice(
    std::string_view key, const BundleEntry& part, const TensorSlice& slice,
    const std::vector<int64_t>& dims, std::pair<int64_t, int64_t> rows, std::span<std::byte> out) {
  const std::vector<int64_t> sizes = slice_dims(slice, dims);
  const int64_t first = std::max(rows.first, slice[0].start);
  const int64_t end = std::min(rows.second, slice[0].start + sizes[0]);
  if (first >= end || part.num_elements() == 0) return;
  verify_bytes(key, part);
  const int64_t item = io::size_of(part.dtype), row = part.size / sizes[0];
  TensorSlice wanted = slice;
  wanted[0] = {first, end - first};
  const std::vector<SliceRun> runs = slice_runs(wanted, dims);
  const int64_t row_of_tensor = int64_t(out.size()) / (rows.second - rows.first);
  const auto place = [&](const SliceRun& run) {
    return out.data() + run.tensor_offset * item - rows.first * row_of_tensor;
  };
  std::vector<std::byte> bytes(runs.size() == 1 ? 0 : size_t((end - first) * row));
  std::byte* to = runs.size() == 1 ? place(runs[0]) : bytes.data();
  const std::span<char> chars(reinterpret_cast<char*>(to), size_t((end - first) * row));
  throw_if_error(
      annotate(shard(part.shard_id).read(part.offset + (first - slice[0].start) * row, chars),
               str_cat("tensor '", key, "'")));
  if (runs.size() == 1) return;
  for (const SliceRun& run : runs)
    std::memcpy(place(run), bytes.data() + run.slice_offset * item, size_t(run.count * item));
}

DISTRIBUTE_INLINE void BundleReader::read_rows(std::string_view key, int64_t begin, int64_t end,
                                               std::span<std::byte> out) {
  const BundleEntry& found = numeric_entry(key);
  const int64_t rows = found.dims.empty() ? -1 : found.dims[0];
  if (begin < 0 || end < begin || end > rows)
    throw InvalidArgumentError(str_cat("checkpoint ", prefix_, ": tensor '", key, "': wanted rows ",
                                       begin, " to ", end, ", there are ",
                                       std::max<int64_t>(rows, 0)));
  const int64_t all = found.num_elements() * io::size_of(found.dtype);
  const int64_t wanted = rows == 0 ? 0 : all / rows * (end - begin);
  if (wanted != int64_t(out.size()))
    throw InvalidArgumentError(str_cat("checkpoint ", prefix_, ": tensor '", key,
                                       "': these rows have ", wanted,
                                       " bytes, but the memory to read into has ", out.size()));
  if (out.empty()) return;
  if (found.slices.empty())
    return read_rows_of_slice(key, found, TensorSlice(found.dims.size()), found.dims, {begin, end},
                              out);
  check_slices(key, found);
  for (const TensorSlice& slice : found.slices)
    read_rows_of_slice(key, part_entry(key, found, slice), slice, found.dims, {begin, end}, out);
}

DISTRIBUTE_INLINE std::vector<std::byte> BundleReader::read_as(std::string_view key,
                                                               io::DataType dtype) {
  const BundleEntry& found = entry(key);
  if (found.dtype == dtype) return read(key);
  throw InvalidArgumentError(str_cat("checkpoint ", prefix_, ": tensor '", key, "': wanted type ",
                                     io::name_of(dtype), ", came ", io::name_of(found.dtype)));
}

DISTRIBUTE_INLINE std::vector<std::string> BundleReader::read_strings(std::string_view key) {
  const BundleEntry& found = entry(key);
  if (found.dtype != io::DataType::String || !found.slices.empty()) {
    throw InvalidArgumentError(
        str_cat("checkpoint ", prefix_, ": tensor '", key, "': wanted whole strings, came ",
                found.slices.empty() ? "" : "slices of ", io::name_of(found.dtype)));
  }
  check_inside_file(key, found);  // before the memory is taken
  std::string bytes(size_t(found.size), '\0');
  read_raw(key, found, bytes);
  std::vector<std::string> values;
  uint32_t crc = 0;
  const bool empty = found.num_elements() == 0 && bytes.empty();
  if (!empty && !checkpoint_internal::decode_strings(bytes, found.num_elements(), values, crc)) {
    fail(key, found, "the string lengths do not fit their checksum or the bytes: damaged");
  }
  check_crc(key, found, crc);
  return values;
}

DISTRIBUTE_INLINE std::string BundleReader::read_string(std::string_view key) {
  std::vector<std::string> values = read_strings(key);
  if (entry(key).dims.empty()) return std::move(values[0]);
  throw InvalidArgumentError(str_cat("checkpoint ", prefix_, ": tensor '", key,
                                     "': wanted a string scalar, came rank ",
                                     entry(key).dims.size()));
}

DISTRIBUTE_INLINE void BundleReader::close_files() { shards_.clear(); }

DISTRIBUTE_INLINE void BundleReader::verify() {
  for (const std::string& key : keys()) verify(key);
}

DISTRIBUTE_INLINE void BundleReader::verify(std::string_view key) {
  if (entry(key).dtype == io::DataType::String) {
    read_strings(key);
    return;
  }
  const BundleEntry& found = numeric_entry(key);
  if (found.slices.empty()) return verify_bytes(key, found);
  check_slices(key, found);
  for (const TensorSlice& slice : found.slices) verify_bytes(key, part_entry(key, found, slice));
}

}  // namespace distribute::train
