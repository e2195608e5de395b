#pragma once
#include <distribute/checkpoint/detail/bundle_entry.hpp>

#include <distribute/base/error.hpp>
#include <distribute/checkpoint/detail/bundle_table.hpp>
#include <distribute/io/compression.hpp>
#include <distribute/io/protobuf.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>

namespace distribute::checkpoint_internal {

inline constexpr int kBundleVersion = 1;  // kTensorBundleVersion

DISTRIBUTE_INLINE std::string encode_header(const train::BundleHeader& header) {
  const auto version = io::ProtoWriter().integer(1, kBundleVersion);
  return io::ProtoWriter().integer(1, header.num_shards).message(3, version).take();
}

DISTRIBUTE_INLINE io::ProtoWriter encode_slice(const train::TensorSlice& slice) {
  io::ProtoWriter proto;
  for (const auto& [start, length] : slice) {
    io::ProtoWriter extent;
    extent.integer(1, start);
    // A oneof member: a length of 0 is written, and only the whole dimension leaves it out.
    if (length != -1) extent.integer(2, length, io::Presence::Always);
    proto.message(1, extent);
  }
  return proto;
}

DISTRIBUTE_INLINE std::string encode_entry(const train::BundleEntry& entry) {
  io::ProtoWriter proto;
  proto.integer(1, int64_t(entry.dtype)).message(2, io::shape_proto(entry.dims));
  proto.integer(3, entry.shard_id).integer(4, entry.offset).integer(5, entry.size);
  proto.fixed32(6, entry.crc32c);
  for (const train::TensorSlice& slice : entry.slices) proto.message(7, encode_slice(slice));
  return proto.take();
}

DISTRIBUTE_INLINE bool decode_shape(std::string_view bytes, std::vector<int64_t>& dims) {
  bool unknown_rank = false;
  return io::read_shape_proto(bytes, dims, unknown_rank) && !unknown_rank &&
         std::all_of(dims.begin(), dims.end(), [](int64_t size) { return size >= 0; });
}

DISTRIBUTE_INLINE bool decode_slice(std::string_view bytes, train::TensorSlice& slice) {
  return io::read_fields(bytes, [&](const io::ProtoField& field) {
    if (!field.is(1, io::WireType::Bytes)) return true;
    auto& extent = slice.emplace_back();
    return io::read_fields(field.bytes, [&](const io::ProtoField& part) {
      if (part.is(1, io::WireType::Varint)) extent.start = part.as_int64();
      if (part.is(2, io::WireType::Varint)) extent.length = part.as_int64();
    });
  });
}

DISTRIBUTE_INLINE bool decode_entry(std::string_view bytes, train::BundleEntry& entry) {
  return io::read_fields(bytes, [&](const io::ProtoField& field) {
    if (field.is(1, io::WireType::Varint)) entry.dtype = io::DataType(field.as_int32());
    if (field.is(2, io::WireType::Bytes)) return decode_shape(field.bytes, entry.dims);
    if (field.is(3, io::WireType::Varint)) entry.shard_id = field.as_int32();
    if (field.is(4, io::WireType::Varint)) entry.offset = field.as_int64();
    if (field.is(5, io::WireType::Varint)) entry.size = field.as_int64();
    if (field.is(6, io::WireType::Fixed32)) entry.crc32c = uint32_t(field.value);
    return !field.is(7, io::WireType::Bytes) ||
           decode_slice(field.bytes, entry.slices.emplace_back());
  });
}

/// Refuses entries that contradict themselves, so that readers need not look again.
DISTRIBUTE_INLINE void check_entry(const train::BundleEntry& entry,
                                   const train::BundleHeader& header, const std::string& where) {
  if (entry.shard_id < 0 || entry.shard_id >= header.num_shards) {
    throw DataLossError(str_cat(where, "lies in data file ", entry.shard_id, " of ",
                                header.num_shards, ": the index is damaged"));
  }
  if (entry.offset < 0 || entry.size < 0) {
    throw DataLossError(where + "has a negative offset or size: the index is damaged");
  }
  try {
    const int64_t elements = train::checked_num_elements(entry.dims);
    const int64_t item = io::size_of(entry.dtype);
    int64_t bytes = 0;
    const bool too_large = __builtin_mul_overflow(elements, item, &bytes);
    if (too_large || (item != 0 && entry.slices.empty() && bytes != entry.size)) {
      throw DataLossError(str_cat(where, "holds ", entry.size, " bytes, but its shape needs ",
                                  elements, " x ", item, ": the index is damaged"));
    }
    for (const train::TensorSlice& slice : entry.slices) train::slice_dims(slice, entry.dims);
  } catch (const InvalidArgumentError& error) {
    throw DataLossError(where + "is impossible (" + error.what() + "): the index is damaged");
  }
}

struct BundleVersion {
  int64_t min_consumer = 0;
  std::vector<int64_t> bad_consumers;
  bool big_endian = false;
};

DISTRIBUTE_INLINE bool decode_version(std::string_view bytes, BundleVersion& version) {
  return io::read_fields(bytes, [&](const io::ProtoField& field) {
    if (field.is(2, io::WireType::Varint)) version.min_consumer = field.as_int64();
    return field.number != 3 || io::append_integers(field, version.bad_consumers);
  });
}

DISTRIBUTE_INLINE train::BundleHeader decode_header(std::string_view bytes,
                                                    const std::string& file) {
  train::BundleHeader header{.num_shards = 0};
  BundleVersion version;
  const bool good = io::read_fields(bytes, [&](const io::ProtoField& field) {
    if (field.is(1, io::WireType::Varint)) header.num_shards = field.as_int32();
    if (field.is(2, io::WireType::Varint)) version.big_endian = field.as_bool();
    return !field.is(3, io::WireType::Bytes) || decode_version(field.bytes, version);
  });
  if (!good || header.num_shards < 1) {
    throw DataLossError(file + ": no valid header; damaged, or not a TensorFlow V2 checkpoint");
  }
  if (version.big_endian) {
    throw UnimplementedError(file + ": written on a big-endian machine, which is not supported");
  }
  bool refused = version.min_consumer > kBundleVersion;
  for (int64_t bad : version.bad_consumers) refused = refused || bad == kBundleVersion;
  if (refused) {
    throw UnimplementedError(str_cat(file, ": needs a reader of checkpoint version ",
                                     version.min_consumer, ", this one has version ",
                                     kBundleVersion));
  }
  return header;
}

DISTRIBUTE_INLINE uint32_t extend_by_length(uint32_t crc, uint64_t length) {
  std::string bytes;
  if (length <= std::numeric_limits<uint32_t>::max()) {
    io::append_fixed32(bytes, uint32_t(length));
  } else {
    io::append_fixed64(bytes, length);
  }
  return io::crc32c_extend(crc, bytes);
}

}  // namespace distribute::checkpoint_internal

namespace distribute::train {

DISTRIBUTE_INLINE int64_t checked_num_elements(const std::vector<int64_t>& dims) {
  int64_t product = 1;
  bool empty = false, overflow = false;
  for (int64_t size : dims) {
    if (size < 0) throw InvalidArgumentError(str_cat("shape: negative size ", size));
    if (size == 0) empty = true;
    if (size != 0 && __builtin_mul_overflow(product, size, &product)) overflow = true;
  }
  if (empty) return 0;
  if (overflow) throw InvalidArgumentError("shape: more than 2^63 elements");
  return product;
}

DISTRIBUTE_INLINE int64_t BundleEntry::num_elements() const { return checked_num_elements(dims); }

DISTRIBUTE_INLINE std::string encode_bundle_index(const BundleHeader& header,
                                                  const BundleEntries& entries) {
  TableBuilder table;
  table.add("", checkpoint_internal::encode_header(header));
  for (const auto& [key, entry] : entries) table.add(key, checkpoint_internal::encode_entry(entry));
  return table.finish();
}

DISTRIBUTE_INLINE BundleEntries decode_bundle_index(std::string_view bytes, const std::string& file,
                                                    BundleHeader& header) {
  const std::vector<TableRow> rows = parse_table(bytes, file);
  const bool has_header = !rows.empty() && rows[0].first.empty();
  header = checkpoint_internal::decode_header(has_header ? rows[0].second : "", file);
  BundleEntries entries;
  for (size_t i = 1; i < rows.size(); ++i) {
    const auto& [key, value] = rows[i];
    const std::string where = str_cat(file, ": tensor '", key, "' ");
    BundleEntry entry;
    if (!checkpoint_internal::decode_entry(value, entry)) {
      throw DataLossError(where + "has an unreadable entry: the index is damaged");
    }
    checkpoint_internal::check_entry(entry, header, where);
    entries.emplace_hint(entries.end(), key, std::move(entry));
  }
  return entries;
}

DISTRIBUTE_INLINE std::string bundle_index_path(const std::string& prefix) {
  return prefix + ".index";
}

DISTRIBUTE_INLINE std::string bundle_data_path(const std::string& prefix, int shard_id,
                                               int num_shards) {
  char suffix[40];
  std::snprintf(suffix, sizeof(suffix), ".data-%05d-of-%05d", shard_id, num_shards);
  return prefix + suffix;
}

}  // namespace distribute::train
