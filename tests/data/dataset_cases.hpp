#pragma once
/// What TensorFlow gives (tests/comparison/dataset_cases.json), and our elements in the same form.

#include <distribute/data/dataset.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <string>
#include <tests/data/sequences/sequence_answers.hpp>
#include <tests/support/source_dir.hpp>

namespace distribute::data {

inline nlohmann::json tensorflow_case(const std::string& name) {
  static const nlohmann::json all = [] {
    std::ifstream file(distribute::testing::source_dir() + "/tests/comparison/dataset_cases.json");
    return nlohmann::json::parse(file);
  }();
  return all.at(name);
}

/// TensorFlow's name of an error.
inline std::string error_name(const Error& error) {
  switch (error.code()) {
    case StatusCode::InvalidArgument: return "InvalidArgumentError";
    case StatusCode::FailedPrecondition: return "FailedPreconditionError";
    case StatusCode::OutOfRange: return "OutOfRangeError";
    case StatusCode::Unimplemented: return "UnimplementedError";
    case StatusCode::NotFound: return "NotFoundError";
    case StatusCode::DataLoss: return "DataLossError";
    default: return "another error";
  }
}

/// The elements, with errors in their places, and the cardinality, as in dataset_cases.py.
inline nlohmann::json case_of(const Dataset& dataset, size_t limit = 20) {
  auto elements = nlohmann::json::array();
  Iterator it = dataset.iterator();
  for (int errors = 0; elements.size() < limit && errors < 4;) {
    try {
      const auto element = it.get_next_as_optional();
      if (!element) break;
      elements.push_back(as_json(*element));
    } catch (const Error& error) {
      elements.push_back({{"error", error_name(error)}});
      ++errors;
    }
  }
  return {{"elements", elements}, {"cardinality", dataset.cardinality()}};
}

/// What every transformation of the library keeps: the same elements in every pass, positions that
/// go on exactly, shards that are every n-th element, a spec that its elements fit.
inline bool keeps_the_contract(const Dataset& dataset) {
  const nlohmann::json all = elements_as_json(dataset);
  if (elements_as_json(dataset) != all || !resumes_everywhere(dataset)) return false;
  auto second = nlohmann::json::array();
  for (size_t i = 1; i < all.size(); i += 2) second.push_back(all[i]);
  if (elements_as_json(dataset.shard(2, 1)) != second) return false;
  if (elements_as_json(dataset.skip(1).take(2)) !=
      nlohmann::json(all.begin() + int(std::min<size_t>(1, all.size())),
                     all.begin() + int(std::min<size_t>(3, all.size()))))
    return false;
  if (elements_as_json(dataset.prefetch(2)) != all) return false;
  if (dataset.cardinality() >= 0 && dataset.cardinality() != int64_t(all.size())) return false;
  const ElementSpec spec = dataset.element_spec();
  for (const Batch& element : dataset) {
    const ElementSpec own = spec_of(element);
    if (own.size() != spec.size()) return false;
    for (size_t i = 0; i < spec.size(); ++i)
      if (own[i].dtype != spec[i].dtype || own[i].shape.size() != spec[i].shape.size() ||
          own[i].name != spec[i].name)
        return false;
  }
  return true;
}

}  // namespace distribute::data
