#pragma once
#include <distribute/data/dataset.hpp>
#include <distribute/data/detail/padding.hpp>
#include <distribute/data/detail/selection.hpp>
#include <distribute/data/grouping.hpp>

#include <algorithm>

namespace distribute::data {

namespace data_internal {

/// Joins the elements of a bucket's window into one padded batch; `bucket` is its number.
DISTRIBUTE_INLINE Batch batch_of_bucket(const std::vector<Batch>& examples, int64_t bucket,
                                        const std::vector<int64_t>& boundaries,
                                        const BucketOptions& options) {
  if (options.no_padding) return stack_rows(examples);
  if (options.pad_to_bucket_boundary && bucket == int64_t(boundaries.size()))
    throw InvalidArgumentError(
        str_cat("bucket_by_sequence_length: with pad_to_bucket_boundary elements must be shorter "
                "than the last boundary, ",
                boundaries.empty() ? 0 : boundaries.back()));
  return pad_and_stack(examples, {options.padded_shapes, options.padding_values},
                       options.pad_to_bucket_boundary ? boundaries[size_t(bucket)] - 1 : -1);
}

/// Gives the one batch of a bucket, or nothing for a remainder that is dropped.
DISTRIBUTE_INLINE NodePtr reduce_bucket(const Node& window, int64_t bucket,
                                        const std::vector<int64_t>& boundaries, int64_t batch_size,
                                        const BucketOptions& options) {
  std::vector<Batch> examples;
  const auto elements = window.elements({});
  for (Batch element; elements->next(element);) examples.push_back(std::move(element));
  if (options.drop_remainder && int64_t(examples.size()) < batch_size)
    return take_node(element_source(examples[0]), 0);
  return element_source(batch_of_bucket(examples, bucket, boundaries, options));
}

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr padded_batch_node(NodePtr input, int64_t batch_size,
                                            const PaddedBatchOptions& options) {
  return data_internal::batches_node(
      "padded_batch", std::move(input), batch_size, options.drop_remainder,
      data_internal::Padding{options.padded_shapes, options.padding_values});
}

DISTRIBUTE_INLINE NodePtr bucket_node(NodePtr input, ElementLength element_length_func,
                                      std::vector<int64_t> bucket_boundaries,
                                      std::vector<int64_t> bucket_batch_sizes,
                                      const BucketOptions& options) {
  if (bucket_batch_sizes.size() != bucket_boundaries.size() + 1)
    throw InvalidArgumentError(
        str_cat("bucket_by_sequence_length: bucket_batch_sizes must have one number more than "
                "bucket_boundaries; they have ",
                bucket_batch_sizes.size(), " and ", bucket_boundaries.size()));
  if (!std::is_sorted(bucket_boundaries.begin(), bucket_boundaries.end()) ||
      *std::min_element(bucket_batch_sizes.begin(), bucket_batch_sizes.end()) < 1)
    throw InvalidArgumentError(
        "bucket_by_sequence_length: boundaries must rise, and batch sizes be at least 1");
  if (options.no_padding && (options.pad_to_bucket_boundary || !options.padded_shapes.empty() ||
                             !options.padding_values.empty()))
    throw InvalidArgumentError(
        "bucket_by_sequence_length: no_padding excludes the options that tell how to pad");
  GroupFunctions functions{.kind = "Bucket", .parameters = bucket_boundaries};
  functions.parameters.insert(functions.parameters.end(), bucket_batch_sizes.begin(),
                              bucket_batch_sizes.end());
  functions.key = [ends = bucket_boundaries,
                   length = std::move(element_length_func)](const Batch& element) {
    return std::upper_bound(ends.begin(), ends.end(), length(element)) - ends.begin();
  };
  functions.window_size = [bucket_batch_sizes](int64_t bucket) {
    return bucket_batch_sizes[size_t(bucket)];
  };
  functions.spec = [options](const ElementSpec& before) {
    return options.no_padding ? with_batch_axis(before, -1)
                              : data_internal::padded_spec(
                                    before, {options.padded_shapes, options.padding_values}, -1);
  };
  functions.reduce = [=](int64_t bucket, const NodePtr& window) {
    return data_internal::reduce_bucket(*window, bucket, bucket_boundaries,
                                        bucket_batch_sizes[size_t(bucket)], options);
  };
  return group_by_window_node(std::move(input), std::move(functions));
}

DISTRIBUTE_INLINE Dataset Dataset::padded_batch(int64_t batch_size) const {
  return padded_batch(batch_size, {});
}

DISTRIBUTE_INLINE Dataset Dataset::padded_batch(int64_t batch_size,
                                                const PaddedBatchOptions& options) const {
  return Dataset(padded_batch_node(node_, batch_size, options));
}

DISTRIBUTE_INLINE Dataset Dataset::bucket_by_sequence_length(
    std::function<int64_t(const Batch&)> element_length_func,
    std::vector<int64_t> bucket_boundaries, std::vector<int64_t> bucket_batch_sizes) const {
  return bucket_by_sequence_length(std::move(element_length_func), std::move(bucket_boundaries),
                                   std::move(bucket_batch_sizes), {});
}

DISTRIBUTE_INLINE Dataset Dataset::bucket_by_sequence_length(
    std::function<int64_t(const Batch&)> element_length_func,
    std::vector<int64_t> bucket_boundaries, std::vector<int64_t> bucket_batch_sizes,
    const BucketOptions& options) const {
  return Dataset(bucket_node(node_, std::move(element_length_func), std::move(bucket_boundaries),
                             std::move(bucket_batch_sizes), options));
}

}  // namespace distribute::data
