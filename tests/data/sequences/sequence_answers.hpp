#pragma once
/// What TensorFlow answers for the datasets of sequences, and our elements in the same form.

#include <distribute/data/dataset.hpp>
#include <distribute/data/element_spec.hpp>

#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <tests/support/source_dir.hpp>

namespace distribute::data {

/// sequences/answers.json, which answers.py beside it makes.
inline nlohmann::json tensorflow_answer(const std::string& name) {
  std::ifstream file(distribute::testing::source_dir() + "/tests/data/sequences/answers.json");
  return nlohmann::json::parse(file).at(name);
}

/// A scalar as a number, a tensor as nested lists, bytes as a string.
inline nlohmann::json as_json(const Tensor& tensor) {
  if (tensor.dtype() == DType::UInt8 && tensor.shape().rank() == 1)
    return std::string(bytes_of(tensor));
  if (tensor.shape().rank() == 0)
    return tensor.dtype() == DType::Float32 ? nlohmann::json(tensor.item<float>())
                                            : nlohmann::json(tensor.item<int64_t>());
  auto list = nlohmann::json::array();
  const Shape inner(tensor.shape().dims().subspan(1));
  for (int64_t i = 0; i < tensor.shape()[0]; ++i)
    list.push_back(as_json(tensor.rows(i, i + 1).view(inner)));
  return list;
}

inline nlohmann::json as_json(const Batch& element) {
  if (element.size() == 1 && !element.names) return as_json(element.x);
  nlohmann::json result = element.names ? nlohmann::json::object() : nlohmann::json::array();
  for (size_t i = 0; i < element.size(); ++i) {
    if (element.names)
      result[(*element.names)[i]] = as_json(element[i]);
    else
      result.push_back(as_json(element[i]));
  }
  return result;
}

inline nlohmann::json elements_as_json(const Dataset& dataset) {
  auto elements = nlohmann::json::array();
  for (const Batch& element : dataset) elements.push_back(as_json(element));
  return elements;
}

inline nlohmann::json answer_of(const Dataset& dataset) {
  return {{"elements", elements_as_json(dataset)}, {"cardinality", dataset.cardinality()}};
}

/// Positions: goes on from every element's state, and checks that the rest comes out the same.
inline bool resumes_everywhere(const Dataset& dataset) {
  const nlohmann::json all = elements_as_json(dataset);
  Iterator it = dataset.iterator();
  for (size_t at = 0; at <= all.size(); ++at) {
    Iterator again = dataset.iterator();
    again.restore(it.state());
    for (size_t i = at; i < all.size(); ++i) {
      const auto element = again.get_next_as_optional();
      if (!element || as_json(*element) != all[i]) return false;
    }
    if (again.get_next_as_optional()) return false;
    if (at < all.size()) it.next();
  }
  return true;
}

}  // namespace distribute::data
