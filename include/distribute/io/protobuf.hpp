#pragma once
/// Protobuf wire format without generated code: a writer, and a reader that survives any bytes.

#include <distribute/io/detail/wire.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute::io {

/// how a field is encoded
enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

/// Says whether a zero or empty value is written: proto3 omits it, members of a oneof are always
/// written.
enum class Presence { OmitDefault, Always };

/// Builds one message; write the fields in number order to be byte-equal with TensorFlow.
///   ProtoWriter().bytes(1, name).integer(2, count).take()
class ProtoWriter {
 public:
  /// Adds an int32, int64, uint32, uint64, bool or enum field; a negative value takes 10 bytes.
  ProtoWriter& integer(uint32_t field, int64_t value, Presence presence = Presence::OmitDefault);
  ProtoWriter& fixed32(uint32_t field, uint32_t value, Presence presence = Presence::OmitDefault);
  ProtoWriter& fixed64(uint32_t field, uint64_t value, Presence presence = Presence::OmitDefault);
  ProtoWriter& float32(uint32_t field, float value, Presence presence = Presence::OmitDefault);
  ProtoWriter& float64(uint32_t field, double value, Presence presence = Presence::OmitDefault);
  /// Adds a string or bytes field.
  ProtoWriter& bytes(uint32_t field, std::string_view value,
                     Presence presence = Presence::OmitDefault);
  /// Adds a nested message, which is written even when it is empty.
  ProtoWriter& message(uint32_t field, const ProtoWriter& value) {
    return message(field, value.str());
  }
  ProtoWriter& message(uint32_t field, std::string_view encoded);

  /// Adds repeated scalars in packed form; nothing is written for an empty list.
  ProtoWriter& packed_integers(uint32_t field, std::span<const int64_t> values);
  ProtoWriter& packed_floats(uint32_t field, std::span<const float> values);

  /// Returns the message so far.
  const std::string& str() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  void tag(uint32_t field, WireType type);

  std::string out_;
};

/// One field as the reader found it: scalars are in `value`, strings and nested messages in
/// `bytes`.
struct ProtoField {
  uint32_t number = 0;
  WireType type = WireType::Varint;
  uint64_t value = 0;
  std::string_view bytes;

  /// Returns true for field `n` of type `t`; a field of another type counts as unknown, as in
  /// protobuf.
  bool is(uint32_t n, WireType t) const { return number == n && type == t; }
  int64_t as_int64() const { return int64_t(value); }
  int32_t as_int32() const { return int32_t(uint32_t(value)); }
  bool as_bool() const { return value != 0; }
  float as_float() const { return std::bit_cast<float>(uint32_t(value)); }
  double as_double() const { return std::bit_cast<double>(value); }
};

/// Walks the fields of one message. Views point into the bytes given; thread-compatible.
///   for (ProtoField field; reader.next(field);) { if (field.is(1, WireType::Varint)) ... }
///   if (!reader.ok()) ...
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view message) : rest_(message) {}

  /// Reads the next field; false at the end of the message and at the first malformed field.
  bool next(ProtoField& field);
  /// False once a malformed field was met (cut off, groups, field number 0).
  bool ok() const { return ok_; }

 private:
  bool read_value(ProtoField& field);

  std::string_view rest_;
  bool ok_ = true;
};

/// Calls take(field) for each field of a message. It stops and returns false when `take` returns
/// false, and when the message is malformed.
template <std::invocable<const ProtoField&> Take>
[[nodiscard]] bool read_fields(std::string_view message, const Take& take) {
  ProtoReader reader(message);
  for (ProtoField field; reader.next(field);) {
    if constexpr (std::is_void_v<decltype(take(field))>)
      take(field);
    else if (!take(field))
      return false;
  }
  return reader.ok();
}

/// Encodes an entry of a map: a name, and a text or message.
std::string map_entry_proto(std::string_view name, std::string_view value);
[[nodiscard]] bool read_map_entry(std::string_view message, std::string_view& name,
                                  std::string_view& value);

/// Encodes a TensorShapeProto; a size of -1 is unknown.
std::string shape_proto(std::span<const int64_t> sizes);
/// Appends the sizes, and says when even the number of axes is unknown.
[[nodiscard]] bool read_shape_proto(std::string_view message, std::vector<int64_t>& sizes,
                                    bool& unknown_rank);

/// Appends the values of a repeated scalar field, packed or single; returns false when the field is
/// malformed.
[[nodiscard]] bool append_integers(const ProtoField& field, std::vector<int64_t>& values);
[[nodiscard]] bool append_floats(const ProtoField& field, std::vector<float>& values);

}  // namespace distribute::io
