#pragma once
#include <distribute/data/dataset.hpp>
#include <distribute/data/detail/batching.hpp>
#include <distribute/data/detail/combine.hpp>
#include <distribute/data/detail/interleave.hpp>
#include <distribute/data/detail/prefetch.hpp>
#include <distribute/data/detail/rebatch.hpp>
#include <distribute/data/detail/selection.hpp>
#include <distribute/data/detail/shuffle.hpp>

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

DISTRIBUTE_INLINE Dataset Dataset::shuffle(int64_t buffer_size,
                                           const ShuffleOptions& options) const {
  return Dataset(shuffle_node(node_, buffer_size, options));
}

DISTRIBUTE_INLINE Dataset Dataset::batch(int64_t batch_size, bool drop_remainder) const {
  return Dataset(batch_node(node_, batch_size, drop_remainder));
}

DISTRIBUTE_INLINE Dataset Dataset::unbatch() const { return Dataset(unbatch_node(node_)); }

DISTRIBUTE_INLINE Dataset Dataset::rebatch(std::vector<int64_t> sizes, bool drop_remainder) const {
  return Dataset(rebatch_node(node_, std::move(sizes), drop_remainder));
}

DISTRIBUTE_INLINE Dataset Dataset::repeat(int64_t count) const {
  return Dataset(repeat_node(node_, count));
}

DISTRIBUTE_INLINE Dataset Dataset::take(int64_t count) const {
  return Dataset(take_node(node_, count));
}

DISTRIBUTE_INLINE Dataset Dataset::skip(int64_t count) const {
  return Dataset(skip_node(node_, count));
}

DISTRIBUTE_INLINE Dataset Dataset::shard(int64_t num_shards, int64_t index) const {
  return Dataset(shard_node(node_, num_shards, index));
}

DISTRIBUTE_INLINE Dataset Dataset::concatenate(const Dataset& other) const {
  return Dataset(concatenate_node(node_, other.node_));
}

DISTRIBUTE_INLINE Dataset Dataset::cache() const { return Dataset(cache_node(node_)); }

DISTRIBUTE_INLINE Dataset Dataset::prefetch(int64_t buffer_size) const {
  return Dataset(prefetch_node(node_, buffer_size));
}

DISTRIBUTE_INLINE Dataset Dataset::measure(PipelineStatisticsPtr statistics,
                                           const std::string& stage) const {
  return Dataset(measure_node(node_, std::move(statistics), stage));
}

DISTRIBUTE_INLINE Dataset Dataset::with_options(const Options& options) const {
  return Dataset(options_node(node_, options));
}

DISTRIBUTE_INLINE Options Dataset::options() const { return options_of(*node_); }

}  // namespace distribute::data
