#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/map_fn.hpp>

namespace distribute {

namespace ops_internal {

DISTRIBUTE_INLINE std::vector<Tensor> first_axis_slices(const char* op, const Tensor& elems) {
  if (elems.shape().rank() == 0 || elems.shape()[0] == 0)
    throw InvalidArgumentError(str_cat(op, ": ", to_string(elems.shape()), " has no slices"));
  return unstack(elems, 0);
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor map_fn(const std::function<Tensor(const Tensor&)>& fn,
                                const Tensor& elems) {
  std::vector<Tensor> results;
  for (const Tensor& slice : ops_internal::first_axis_slices("map_fn", elems))
    results.push_back(fn(slice));
  return stack(results);
}

DISTRIBUTE_INLINE Tensor map_fn(const std::function<Tensor(const std::vector<Tensor>&)>& fn,
                                const std::vector<Tensor>& elems) {
  std::vector<std::vector<Tensor>> columns;
  for (const Tensor& one : elems) {
    columns.push_back(ops_internal::first_axis_slices("map_fn", one));
    if (columns.back().size() != columns[0].size())
      throw InvalidArgumentError(str_cat("map_fn: the first axes differ: ", columns[0].size(),
                                         " and ", columns.back().size()));
  }
  if (columns.empty()) throw InvalidArgumentError("map_fn: wanted a tensor or more");
  std::vector<Tensor> results;
  for (size_t i = 0; i < columns[0].size(); ++i) {
    std::vector<Tensor> slices;
    for (const auto& column : columns) slices.push_back(column[i]);
    results.push_back(fn(slices));
  }
  return stack(results);
}

DISTRIBUTE_INLINE Tensor scan(const std::function<Tensor(const Tensor&, const Tensor&)>& fn,
                              const Tensor& elems, const Tensor& initializer) {
  const std::vector<Tensor> slices = ops_internal::first_axis_slices("scan", elems);
  std::vector<Tensor> states;
  Tensor state = initializer ? initializer : slices[0];
  if (!initializer) states.push_back(state);
  for (size_t i = initializer ? 0 : 1; i < slices.size(); ++i)
    states.push_back(state = fn(state, slices[i]));
  return stack(states);
}

}  // namespace distribute
