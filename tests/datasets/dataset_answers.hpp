#pragma once
/// What TensorFlow and webdataset read from the files of this folder (answers.py).

#include <distribute/data/element_spec.hpp>

#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <tests/support/source_dir.hpp>

namespace distribute::data {

inline std::string fixture(const std::string& name) {
  return distribute::testing::source_dir() + "/tests/datasets/" + name;
}

inline nlohmann::json answer(const std::string& name) {
  std::ifstream file(fixture("answers.json"));
  return nlohmann::json::parse(file).at(name);
}

/// A scalar as a number, bytes as the text that has these as its first 256 characters.
inline nlohmann::json plain(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::Float32: return tensor.item<float>();
    case DType::Int32: return tensor.item<int32_t>();
    case DType::Int64: return tensor.item<int64_t>();
    case DType::Bool: return tensor.item<bool>();
    default: break;
  }
  std::string text;
  for (const char c : bytes_of(tensor)) {
    const auto byte = uint8_t(c);
    if (byte >= 128) text += char(0xC0 | (byte >> 6));
    text += byte >= 128 ? char(0x80 | (byte & 0x3F)) : c;
  }
  return text;
}

inline nlohmann::json plain(const Batch& element) {
  auto result = nlohmann::json::array();
  for (size_t i = 0; i < element.size(); ++i) result.push_back(plain(element[i]));
  return result;
}

}  // namespace distribute::data
