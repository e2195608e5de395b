#pragma once
#include <distribute/data/dataset.hpp>

namespace distribute::data {

DISTRIBUTE_INLINE Dataset Dataset::from_tensor_slices(Tensor x, Tensor y,
                                                      std::vector<Tensor> more) {
  std::vector<Column> columns;
  for (const Tensor& tensor : Batch{std::move(x), std::move(y), std::move(more)}.components())
    columns.push_back(Column{.values = tensor});
  return Dataset(table_source(make_table(std::move(columns))));
}

DISTRIBUTE_INLINE Dataset Dataset::range(int64_t start, int64_t stop, int64_t step) {
  return Dataset(table_source(make_range_table(start, stop, step)));
}

}  // namespace distribute::data
