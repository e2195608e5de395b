#pragma once
/// Little-endian integers and varints: the bytes under protobuf, TFRecord and TensorBundle.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::io {

/// Appends 7 bits per byte, low bits first, in 1 to 10 bytes.
void append_varint(std::string& out, uint64_t value);
void append_fixed32(std::string& out, uint32_t value);
void append_fixed64(std::string& out, uint64_t value);

/// Appends floats one after the other, as packed fields of protobuf hold them.
void append_floats_little_endian(std::string& out, std::span<const float> values);
/// Appends all floats of `in` to `values`. Returns false and appends nothing when the last one is
/// cut off.
[[nodiscard]] bool take_floats_little_endian(std::string_view in, std::vector<float>& values);

/// Removes a value from the front of `in`. Returns false and leaves `in` unchanged when the value
/// is cut off or too long.
[[nodiscard]] bool take_varint(std::string_view& in, uint64_t& value);
[[nodiscard]] bool take_fixed32(std::string_view& in, uint32_t& value);
[[nodiscard]] bool take_fixed64(std::string_view& in, uint64_t& value);

/// Removes `size` bytes from the front of `in`; returns false when there are fewer.
[[nodiscard]] bool take_bytes(std::string_view& in, uint64_t size, std::string_view& bytes);

}  // namespace distribute::io
