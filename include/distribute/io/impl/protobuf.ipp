#pragma once
#include <distribute/io/protobuf.hpp>

namespace distribute::io {

DISTRIBUTE_INLINE void ProtoWriter::tag(uint32_t field, WireType type) {
  append_varint(out_, uint64_t(field) << 3 | uint64_t(type));
}

DISTRIBUTE_INLINE ProtoWriter& ProtoWriter::integer(uint32_t field, int64_t value,
                                                    Presence presence) {
  if (value == 0 && presence == Presence::OmitDefault) return *this;
  tag(field, WireType::Varint);
  append_varint(out_, uint64_t(value));
  return *this;
}

DISTRIBUTE_INLINE ProtoWriter& ProtoWriter::fixed32(uint32_t field, uint32_t value,
                                                    Presence presence) {
  if (value == 0 && presence == Presence::OmitDefault) return *this;
  tag(field, WireType::Fixed32);
  append_fixed32(out_, value);
  return *this;
}

DISTRIBUTE_INLINE ProtoWriter& ProtoWriter::fixed64(uint32_t field, uint64_t value,
                                                    Presence presence) {
  if (value == 0 && presence == Presence::OmitDefault) return *this;
  tag(field, WireType::Fixed64);
  append_fixed64(out_, value);
  return *this;
}

// Minus zero is no default value: its bits are written, as protobuf does.
DISTRIBUTE_INLINE ProtoWriter& ProtoWriter::float32(uint32_t field, float value,
                                                    Presence presence) {
  return fixed32(field, std::bit_cast<uint32_t>(value), presence);
}

DISTRIBUTE_INLINE ProtoWriter& ProtoWriter::float64(uint32_t field, double value,
                                                    Presence presence) {
  return fixed64(field, std::bit_cast<uint64_t>(value), presence);
}

DISTRIBUTE_INLINE ProtoWriter& ProtoWriter::bytes(uint32_t field, std::string_view value,
                                                  Presence presence) {
  if (value.empty() && presence == Presence::OmitDefault) return *this;
  return message(field, value);
}

DISTRIBUTE_INLINE ProtoWriter& ProtoWriter::message(uint32_t field, std::string_view encoded) {
  tag(field, WireType::Bytes);
  append_varint(out_, encoded.size());
  out_.append(encoded);
  return *this;
}

DISTRIBUTE_INLINE ProtoWriter& ProtoWriter::packed_integers(uint32_t field,
                                                            std::span<const int64_t> values) {
  std::string packed;
  for (int64_t value : values) append_varint(packed, uint64_t(value));
  return bytes(field, packed);
}

DISTRIBUTE_INLINE ProtoWriter& ProtoWriter::packed_floats(uint32_t field,
                                                          std::span<const float> values) {
  if (values.empty()) return *this;
  tag(field, WireType::Bytes);
  append_varint(out_, values.size_bytes());
  append_floats_little_endian(out_, values);
  return *this;
}

DISTRIBUTE_INLINE bool ProtoReader::next(ProtoField& field) {
  if (!ok_ || rest_.empty()) return false;
  uint64_t tag = 0;
  ok_ = take_varint(rest_, tag) && tag >> 3 != 0 && tag >> 32 == 0;
  if (!ok_) return false;
  field = {uint32_t(tag >> 3), WireType(tag & 7), 0, {}};
  ok_ = read_value(field);
  return ok_;
}

DISTRIBUTE_INLINE bool ProtoReader::read_value(ProtoField& field) {
  switch (field.type) {
    case WireType::Varint: return take_varint(rest_, field.value);
    case WireType::Fixed64: return take_fixed64(rest_, field.value);
    case WireType::Bytes:
      return take_varint(rest_, field.value) && take_bytes(rest_, field.value, field.bytes);
    case WireType::Fixed32: {
      uint32_t word = 0;
      if (!take_fixed32(rest_, word)) return false;
      field.value = word;
      return true;
    }
  }
  return false;  // groups, and the two unused numbers
}

DISTRIBUTE_INLINE std::string map_entry_proto(std::string_view name, std::string_view value) {
  return ProtoWriter().bytes(1, name, Presence::Always).message(2, value).take();
}

DISTRIBUTE_INLINE bool read_map_entry(std::string_view message, std::string_view& name,
                                      std::string_view& value) {
  return read_fields(message, [&](const ProtoField& field) {
    if (field.is(1, WireType::Bytes)) name = field.bytes;
    if (field.is(2, WireType::Bytes)) value = field.bytes;
  });
}

DISTRIBUTE_INLINE std::string shape_proto(std::span<const int64_t> sizes) {
  ProtoWriter shape;
  for (const int64_t size : sizes) shape.message(2, ProtoWriter().integer(1, size));
  return shape.take();
}

DISTRIBUTE_INLINE bool read_shape_proto(std::string_view message, std::vector<int64_t>& sizes,
                                        bool& unknown_rank) {
  return read_fields(message, [&](const ProtoField& field) {
    if (field.is(3, WireType::Varint)) unknown_rank = field.as_bool();
    if (!field.is(2, WireType::Bytes)) return true;
    sizes.push_back(0);
    return read_fields(field.bytes, [&](const ProtoField& size) {
      if (size.is(1, WireType::Varint)) sizes.back() = size.as_int64();
    });
  });
}

DISTRIBUTE_INLINE bool append_integers(const ProtoField& field, std::vector<int64_t>& values) {
  if (field.type == WireType::Varint) {
    values.push_back(field.as_int64());
    return true;
  }
  if (field.type != WireType::Bytes) return false;
  std::string_view packed = field.bytes;
  for (uint64_t value = 0; !packed.empty(); values.push_back(int64_t(value))) {
    if (!take_varint(packed, value)) return false;
  }
  return true;
}

DISTRIBUTE_INLINE bool append_floats(const ProtoField& field, std::vector<float>& values) {
  if (field.type == WireType::Fixed32) {
    values.push_back(field.as_float());
    return true;
  }
  if (field.type != WireType::Bytes) return false;
  return take_floats_little_endian(field.bytes, values);
}

}  // namespace distribute::io
