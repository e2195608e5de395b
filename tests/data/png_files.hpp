#pragma once
/// The PNG files of png/pictures.json, and how to change one.

#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <zlib.h>
#include <nlohmann/json.hpp>
#include <tests/support/source_dir.hpp>

namespace png_files {

inline nlohmann::json all() {
  std::ifstream file(distribute::testing::source_dir() + "/tests/data/png/pictures.json");
  return nlohmann::json::parse(file);
}

inline std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += char(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

/// Height 5, width 7.
inline std::string file(std::string_view name) {
  for (const auto& picture : all())
    if (picture["name"] == name) return from_hex(picture["png"]);
  throw std::runtime_error("pictures.json has no " + std::string(name));
}

inline std::string big_endian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += char(value >> shift);
  return bytes;
}

inline std::string chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto* start = reinterpret_cast<const Bytef*>(body.data());
  return big_endian(uint32_t(data.size())) + body +
         big_endian(uint32_t(crc32(0, start, uInt(body.size()))));
}

/// A header that claims another size.
inline std::string with_size(std::string png, uint32_t height, uint32_t width) {
  const std::string rest = png.substr(8 + 16, 5);  // depth, colours, methods
  return png.replace(8, 25, chunk("IHDR", big_endian(width) + big_endian(height) + rest));
}

}  // namespace png_files
