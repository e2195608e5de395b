#pragma once
/// What the tests of datasets share: elements as plain numbers.

#include <distribute/data/dataset.hpp>

#include <cstdint>
#include <vector>

namespace distribute::data {

using Numbers = std::vector<int64_t>;

inline Numbers numbers_of(const Tensor& tensor) {
  const auto values = tensor.to_vector();
  return Numbers(values.begin(), values.end());
}

/// The x of every element; `limit` for endless datasets.
inline std::vector<Numbers> elements_of(const Dataset& dataset, int64_t limit = 1000) {
  std::vector<Numbers> result;
  Iterator it = dataset.iterator();
  while (int64_t(result.size()) < limit) {
    const auto element = it.get_next_as_optional();
    if (!element) break;
    result.push_back(numbers_of(element->x));
  }
  return result;
}

/// The same of a dataset of scalars.
inline Numbers scalars_of(const Dataset& dataset, int64_t limit = 1000) {
  Numbers result;
  for (const Numbers& element : elements_of(dataset, limit)) result.push_back(element.at(0));
  return result;
}

inline Batch squared(const Batch& b) {
  const int64_t value = b.x.item<int64_t>();
  return Batch{Tensor(value * value)};
}

inline Numbers count_up(int64_t begin, int64_t end) {
  Numbers result;
  for (int64_t i = begin; i < end; ++i) result.push_back(i);
  return result;
}

}  // namespace distribute::data
