#pragma once
#include <distribute/data/dataset.hpp>

namespace distribute::data {

DISTRIBUTE_INLINE Dataset Dataset::from_tensor_slices(Tensor x, Tensor y,
                                                      std::vector<Tensor> more) {
  return from_rows(Batch{std::move(x), std::move(y), std::move(more)});
}

DISTRIBUTE_INLINE Dataset Dataset::from_rows(const Batch& rows) {
  std::vector<Column> columns;
  for (size_t i = 0; i < rows.size(); ++i) {
    columns.push_back(Column{.values = rows[i]});
    if (rows.names) columns.back().name = (*rows.names)[i];
  }
  return Dataset(table_source(make_table(std::move(columns))));
}

DISTRIBUTE_INLINE Dataset Dataset::range(int64_t start, int64_t stop, int64_t step) {
  return Dataset(table_source(make_range_table(start, stop, step)));
}

DISTRIBUTE_INLINE Dataset Dataset::from_files(std::vector<std::string> paths,
                                              std::function<Dataset(const std::string&)> reader) {
  return Dataset(file_source(
      std::move(paths),
      [reader = std::move(reader)](const std::string& path) { return reader(path).node(); }));
}

DISTRIBUTE_INLINE Dataset Dataset::zip(const std::vector<Dataset>& datasets) {
  std::vector<NodePtr> nodes;
  for (const Dataset& dataset : datasets) nodes.push_back(dataset.node());
  return Dataset(zip_node(std::move(nodes)));
}

DISTRIBUTE_INLINE Dataset Dataset::interleave(std::function<Dataset(const Batch&)> function,
                                              const InterleaveOptions& options) const {
  return Dataset(interleave_node(
      node_, [function = std::move(function)](const Batch& e) { return function(e).node(); },
      options));
}

DISTRIBUTE_INLINE LoopIterator<Iterator> Dataset::begin() const { return LoopIterator(iterator()); }

}  // namespace distribute::data
