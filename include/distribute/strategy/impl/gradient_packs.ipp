#pragma once
#include <distribute/ops/array.hpp>
#include <distribute/strategy/detail/gradient_packs.hpp>

#include <algorithm>
#include <map>

namespace distribute::strategy_internal {

/// Returns a vector of all elements of the tensors.
DISTRIBUTE_INLINE Tensor end_to_end(const std::vector<Tensor>& parts) {
  std::vector<Tensor> flat;
  for (const Tensor& part : parts) flat.push_back(part.view({part.num_elements()}));
  return flat.size() == 1 ? flat[0] : concat(flat, 0);
}

/// Reduces the packs of one dtype: values[i] for i in `members`, which get their results.
DISTRIBUTE_INLINE void reduce_members(
    const std::vector<std::vector<Tensor>>& values, const std::vector<size_t>& members, int packs,
    const std::function<Tensor(const std::vector<Tensor>&)>& reduce, std::vector<Tensor>& results) {
  std::vector<Tensor> whole;  // by replica
  for (size_t r = 0; r < values[members[0]].size(); ++r) {
    std::vector<Tensor> parts;
    for (size_t i : members) parts.push_back(values[i][r]);
    whole.push_back(end_to_end(parts));
  }
  const int64_t size = whole[0].num_elements();
  const int64_t count = std::clamp<int64_t>(packs, 1, std::max<int64_t>(size, 1));
  std::vector<Tensor> reduced;
  for (int64_t pack = 0; pack < count; ++pack) {
    const int64_t begin = size / count * pack,
                  end = pack + 1 == count ? size : begin + size / count;
    std::vector<Tensor> pieces;
    for (const Tensor& one : whole) pieces.push_back(one.rows(begin, end));
    reduced.push_back(reduce(pieces));
  }
  const Tensor all = end_to_end(reduced);
  int64_t begin = 0;
  for (size_t i : members) {
    const Shape& shape = values[i][0].shape();
    results[i] = all.rows(begin, begin + shape.num_elements()).view(shape);
    begin += shape.num_elements();
  }
}

DISTRIBUTE_INLINE std::vector<Tensor> reduce_in_packs(
    const std::vector<std::vector<Tensor>>& values, int packs,
    const std::function<Tensor(const std::vector<Tensor>&)>& reduce) {
  std::map<DType, std::vector<size_t>> by_dtype;
  for (size_t i = 0; i < values.size(); ++i) by_dtype[values[i].at(0).dtype()].push_back(i);
  std::vector<Tensor> results(values.size());
  for (const auto& [dtype, members] : by_dtype)
    reduce_members(values, members, packs, reduce, results);
  return results;
}

DISTRIBUTE_INLINE bool suits_packs(const std::vector<std::vector<Tensor>>& values) {
  if (values.size() < 2 || values[0].empty()) return false;
  for (const std::vector<Tensor>& value : values) {
    if (value.size() != values[0].size()) return false;
    for (size_t r = 0; r < value.size(); ++r) {
      const Tensor& one = value[r];
      if (!one || is_indexed_slices(one) || one.device() != values[0][r].device()) return false;
      if (one.device().type != DeviceType::Gpu) return false;
      if (one.shape() != value[0].shape() || one.dtype() != value[0].dtype()) return false;
    }
  }
  return true;
}

}  // namespace distribute::strategy_internal
