#pragma once
/// What Keras answers for the layers of preprocessing, and our tensors in the same form.

#include <distribute/preprocessing/text_vectorization.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/source_dir.hpp>

#include <nlohmann/json.hpp>

namespace distribute::preprocessing {

using Strings = std::vector<std::string>;

/// answers.json, which answers.py beside it makes.
inline nlohmann::json keras_answer(const std::string& name) {
  static const nlohmann::json answers = [] {
    std::ifstream file(distribute::testing::source_dir() + "/tests/preprocessing/answers.json");
    return nlohmann::json::parse(file);
  }();
  return answers.at(name);
}

/// Nested lists of numbers or strings in `shape`.
template <typename T>
nlohmann::json nested(const std::vector<T>& values, std::span<const int64_t> shape, size_t& at) {
  if (shape.empty()) return values.at(at++);
  auto list = nlohmann::json::array();
  for (int64_t i = 0; i < shape[0]; ++i) list.push_back(nested(values, shape.subspan(1), at));
  return list;
}

inline nlohmann::json as_json(const Tensor& tensor) {
  size_t at = 0;
  if (tensor.dtype() == DType::UInt8)
    return nested(strings_of(tensor), shape_of_strings(tensor).dims(), at);
  return nested(tensor.to_vector(), tensor.shape().dims(), at);
}

/// Equal up to what float32 rounds.
inline bool is_near(const nlohmann::json& got, const nlohmann::json& wanted, double tolerance) {
  if (got.is_array()) {
    bool near = wanted.is_array() && got.size() == wanted.size();
    for (size_t i = 0; near && i < got.size(); ++i) near = is_near(got[i], wanted[i], tolerance);
    return near;
  }
  if (got.is_string() || wanted.is_string()) return got == wanted;
  const double a = got.get<double>(), b = wanted.get<double>();
  return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

/// Values and dtype of a Keras layer's output.
inline void check_answer(const std::string& name, const Tensor& got, double tolerance = 0) {
  INFO(name);
  const nlohmann::json wanted = keras_answer(name);
  const std::string dtype = wanted["dtype"];
  CHECK((dtype == "string" ? "uint8" : dtype) == name_of(got.dtype()));
  const nlohmann::json values = as_json(got);
  if (!is_near(values, wanted["value"], tolerance)) CHECK(values == wanted["value"]);
}

}  // namespace distribute::preprocessing
