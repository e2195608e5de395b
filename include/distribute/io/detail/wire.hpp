#pragma once
/// Little-endian integers and varints: the bytes under protobuf, TFRecord and TensorBundle.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::io {

/// Appends 7 bits per byte, low bits first, 1 to 10 bytes.
void append_varint(std::string& out, uint64_t value);
void append_fixed32(std::string& out, uint32_t value);
void append_fixed64(std::string& out, uint64_t value);

/// Floats one after the other, as packed fields of protobuf have them.
void append_floats_little_endian(std::string& out, std::span<const float> values);
/// Appends all of `in` to `values`; false, and nothing is appended, when its end is cut off.
[[nodiscard]] bool take_floats_little_endian(std::string_view in, std::vector<float>& values);

/// Takes a value off the front of `in`; false, and `in` unchanged, when it is cut off or too long.
[[nodiscard]] bool take_varint(std::string_view& in, uint64_t& value);
[[nodiscard]] bool take_fixed32(std::string_view& in, uint32_t& value);
[[nodiscard]] bool take_fixed64(std::string_view& in, uint64_t& value);

/// Takes `size` bytes off the front of `in`; false when there are fewer.
[[nodiscard]] bool take_bytes(std::string_view& in, uint64_t size, std::string_view& bytes);

}  // namespace distribute::io
