#pragma once
#include <distribute/data/dataset.hpp>
#include <distribute/data/detail/padding.hpp>
#include <distribute/data/grouping.hpp>

#include <algorithm>
#include <map>

namespace distribute::data {

namespace data_internal {

DISTRIBUTE_INLINE std::vector<int64_t> state_of(const BatchStream& stream) {
  StateWriter state;
  stream.save(state);
  return state.values();
}

struct Buckets {
  ElementLength length;
  std::vector<int64_t> boundaries, batch_sizes;
  BucketOptions options;
  Padding padding;
};

/// Its position is the state of the input before the oldest element that it holds, and which of the
/// later elements it still holds.
class BucketStream final : public BatchStream {
 public:
  BucketStream(std::unique_ptr<BatchStream> input, const Buckets& buckets)
      : input_(std::move(input)), buckets_(buckets), held_(buckets.batch_sizes.size()) {}
  bool next(Batch& out) override {
    while (!input_ended_) {
      Held element = read();
      if (input_ended_) break;
      const size_t bucket = bucket_of(element.value);
      held_[bucket].push_back(std::move(element));
      if (int64_t(held_[bucket].size()) == buckets_.batch_sizes[bucket]) return empty(bucket, out);
    }
    for (size_t bucket = 0; bucket < held_.size() && !buckets_.options.drop_remainder; ++bucket)
      if (!held_[bucket].empty()) return empty(bucket, out);
    return false;
  }
  void save(StateWriter& state) const override {
    std::map<int64_t, const Held*> all;
    for (const auto& bucket : held_)
      for (const Held& element : bucket) all[element.number] = &element;
    state.put(input_ended_);
    state.put(int64_t(all.size()));
    if (all.empty()) return input_->save(state);
    const int64_t oldest = all.begin()->first;
    state.put(num_read_ - oldest);
    for (const auto& [number, element] : all) state.put(number - oldest);
    state.put(all.begin()->second->state_before);
  }
  void restore(StateReader& state) override {
    const bool ended = state.get(0, 1);
    const int64_t count = state.get();
    const int64_t ahead = count > 0 ? state.get(count) : 0;
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < count; ++i) numbers.push_back(state.get(0, ahead - 1));
    input_->restore(state);
    for (int64_t i = 0; i < ahead; ++i) {
      Held element = read();
      if (input_ended_)
        throw InvalidArgumentError("the saved position lies behind the end of the dataset");
      if (std::binary_search(numbers.begin(), numbers.end(), i))
        held_[bucket_of(element.value)].push_back(std::move(element));
    }
    input_ended_ = ended;
  }

 private:
  struct Held {
    int64_t number = 0;  // number of input elements read so far
    std::vector<int64_t> state_before;
    Batch value;
  };

  Held read() {
    Held element{num_read_, state_of(*input_), {}};
    input_ended_ = !input_->next(element.value);
    num_read_ += !input_ended_;
    return element;
  }
  size_t bucket_of(const Batch& element) const {
    const auto& ends = buckets_.boundaries;
    return size_t(std::upper_bound(ends.begin(), ends.end(), buckets_.length(element)) -
                  ends.begin());
  }
  bool empty(size_t bucket, Batch& out) {
    std::vector<Batch> examples;
    for (Held& element : held_[bucket]) examples.push_back(std::move(element.value));
    held_[bucket].clear();
    if (buckets_.options.no_padding) {
      out = stack_rows(examples);
      return true;
    }
    const bool to_boundary = buckets_.options.pad_to_bucket_boundary;
    if (to_boundary && bucket == buckets_.boundaries.size())
      throw InvalidArgumentError(
          str_cat("bucket_by_sequence_length: with pad_to_bucket_boundary elements must be shorter "
                  "than the last boundary, ",
                  buckets_.boundaries.empty() ? 0 : buckets_.boundaries.back()));
    out = pad_and_stack(examples, buckets_.padding,
                        to_boundary ? buckets_.boundaries[bucket] - 1 : -1);
    return true;
  }

  std::unique_ptr<BatchStream> input_;
  const Buckets& buckets_;
  std::vector<std::vector<Held>> held_;
  int64_t num_read_ = 0;
  bool input_ended_ = false;
};

class BucketNode final : public CopiedNode<BucketNode> {
 public:
  BucketNode(NodePtr input, Buckets buckets)
      : CopiedNode(std::move(input)), buckets_(std::move(buckets)) {}
  const char* kind() const override { return "Bucket"; }
  std::vector<int64_t> parameters() const override {
    std::vector<int64_t> result = buckets_.boundaries;
    result.insert(result.end(), buckets_.batch_sizes.begin(), buckets_.batch_sizes.end());
    return result;
  }
  int64_t cardinality() const override { return unknown_unless_infinite(); }
  ElementSpec element_spec() const override {
    if (buckets_.options.no_padding) return with_batch_axis(input().element_spec(), -1);
    return padded_spec(input().element_spec(), buckets_.padding, -1);
  }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<BucketStream>(input().elements(pass), buckets_);
  }

 private:
  Buckets buckets_;
};

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
  return std::make_shared<data_internal::BucketNode>(
      std::move(input), data_internal::Buckets{std::move(element_length_func),
                                               std::move(bucket_boundaries),
                                               std::move(bucket_batch_sizes),
                                               options,
                                               {options.padded_shapes, options.padding_values}});
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
