#pragma once
/// Small IDX files for tests.

#include <cstdint>
#include <fstream>
#include <string>

inline std::string word(uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += char(value >> shift & 0xff);
  return text;
}

inline std::string images(uint32_t count) {
  return word(0x803) + word(count) + word(2) + word(2) + std::string(count * 4, '\x33');
}

inline std::string labels(uint32_t count, char value = 7) {
  return word(0x801) + word(count) + std::string(count, value);
}

inline void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}
