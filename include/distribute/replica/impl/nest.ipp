#pragma once
#include <distribute/base/error.hpp>
#include <distribute/replica/nest.hpp>

#include <algorithm>

namespace distribute::replica_internal {

DISTRIBUTE_INLINE void TensorsOf::add(Tensor& tensor, const std::string& name) {
  if (!tensor) return;
  tensors_.push_back(&tensor);
  names_.push_back(name);
}

DISTRIBUTE_INLINE std::vector<Tensor> TensorsOf::values() const {
  std::vector<Tensor> values;
  for (const Tensor* tensor : tensors_) values.push_back(*tensor);
  return values;
}

DISTRIBUTE_INLINE void TensorsOf::replace(std::span<const Tensor> values) const {
  for (size_t i = 0; i < tensors_.size(); ++i) *tensors_[i] = values[i];
}

DISTRIBUTE_INLINE std::string part_name(const std::string& whole, const std::string& key) {
  return whole + "['" + key + "']";
}
DISTRIBUTE_INLINE std::string part_name(const std::string& whole, int64_t number) {
  return str_cat(whole, "[", number, "]");
}

DISTRIBUTE_INLINE void check_same_parts(const char* what, std::span<const TensorsOf> replicas) {
  const auto& first = replicas[0].names();
  for (size_t r = 1; r < replicas.size(); ++r) {
    const auto& other = replicas[r].names();
    for (size_t i = 0; i < std::max(first.size(), other.size()); ++i) {
      const std::string a = i < first.size() ? first[i] : "nothing";
      const std::string b = i < other.size() ? other[i] : "nothing";
      if (a != b)
        throw InvalidArgumentError(str_cat(what, ": replicas give different structures: where ",
                                           "replica 0 has ", a, ", replica ", r, " has ", b));
    }
  }
}

}  // namespace distribute::replica_internal
