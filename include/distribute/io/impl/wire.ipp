#pragma once
#include <distribute/io/detail/wire.hpp>

#include <bit>
#include <cstring>

namespace distribute::io_internal {

template <typename T>
void append_little_endian(std::string& out, T value) {
  char bytes[sizeof(T)];
  for (size_t i = 0; i < sizeof(T); ++i) bytes[i] = char(uint8_t(value >> (8 * i)));
  out.append(bytes, sizeof(T));
}

template <typename T>
bool take_little_endian(std::string_view& in, T& value) {
  if (in.size() < sizeof(T)) return false;
  value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= T(uint8_t(in[i])) << (8 * i);
  in.remove_prefix(sizeof(T));
  return true;
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += char(uint8_t(value) | 0x80);
  out += char(value);
}

DISTRIBUTE_INLINE void append_fixed32(std::string& out, uint32_t value) {
  io_internal::append_little_endian(out, value);
}

DISTRIBUTE_INLINE void append_fixed64(std::string& out, uint64_t value) {
  io_internal::append_little_endian(out, value);
}

DISTRIBUTE_INLINE bool take_varint(std::string_view& in, uint64_t& value) {
  uint64_t result = 0;
  for (size_t i = 0; i < in.size() && i < 10; ++i) {
    const uint8_t byte = uint8_t(in[i]);
    if (i == 9 && byte > 1) return false;
    result |= uint64_t(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      value = result;
      in.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

DISTRIBUTE_INLINE bool take_fixed32(std::string_view& in, uint32_t& value) {
  return io_internal::take_little_endian(in, value);
}

DISTRIBUTE_INLINE bool take_fixed64(std::string_view& in, uint64_t& value) {
  return io_internal::take_little_endian(in, value);
}

DISTRIBUTE_INLINE void append_floats_little_endian(std::string& out,
                                                   std::span<const float> values) {
  if constexpr (std::endian::native == std::endian::little)
    out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  else
    for (float value : values) append_fixed32(out, std::bit_cast<uint32_t>(value));
}

DISTRIBUTE_INLINE bool take_floats_little_endian(std::string_view in, std::vector<float>& values) {
  if (in.size() % sizeof(float) != 0) return false;
  const size_t first = values.size();
  values.resize(first + in.size() / sizeof(float));
  if constexpr (std::endian::native == std::endian::little) {
    if (!in.empty()) std::memcpy(values.data() + first, in.data(), in.size());
  } else {
    for (size_t i = first; i < values.size(); ++i) {
      uint32_t word = 0;
      if (!take_fixed32(in, word)) return false;
      values[i] = std::bit_cast<float>(word);
    }
  }
  return true;
}

DISTRIBUTE_INLINE bool take_bytes(std::string_view& in, uint64_t size, std::string_view& bytes) {
  if (size > in.size()) return false;
  bytes = in.substr(0, size);
  in.remove_prefix(size);
  return true;
}

}  // namespace distribute::io
