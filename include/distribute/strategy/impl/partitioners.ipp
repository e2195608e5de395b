#pragma once
#include <distribute/base/error.hpp>
#include <distribute/strategy/sharded_variable.hpp>

#include <algorithm>

namespace distribute {

namespace strategy_internal {

DISTRIBUTE_INLINE void check_positive(const char* partitioner, const char* name, int64_t value) {
  if (value < 1)
    throw InvalidArgumentError(
        str_cat(partitioner, ": ", name, " must be greater than 0, got ", value));
}

/// Returns `shards` along `axis`, limited to [1, size of the axis].
DISTRIBUTE_INLINE std::vector<int64_t> along_axis(const Shape& shape, int axis, int64_t shards) {
  std::vector<int64_t> counts(size_t(shape.rank()), 1);
  counts.at(size_t(shape.normalize_axis(axis))) =
      std::max<int64_t>(std::min(shape[axis], shards), 1);
  return counts;
}

DISTRIBUTE_INLINE std::vector<ShardRows> shard_rows(int64_t rows, int64_t shards) {
  std::vector<ShardRows> all;
  int64_t begin = 0;
  for (int64_t i = 0; i < shards; ++i) {
    const int64_t end = begin + rows / shards + (i < rows % shards ? 1 : 0);
    all.push_back({begin, end});
    begin = end;
  }
  return all;
}

DISTRIBUTE_INLINE std::string list_text(const std::vector<int64_t>& values) {
  std::string text;
  for (int64_t value : values) text += str_cat(text.empty() ? "" : ", ", value);
  return "[" + text + "]";
}

DISTRIBUTE_INLINE int64_t num_shards(const Partitioner& partitioner, const std::string& name,
                                     const Shape& shape, DType dtype) {
  if (!partitioner || shape.rank() == 0) return 1;
  const std::vector<int64_t> counts = partitioner(shape, dtype);
  const auto refuse = [&](const char* reason) {
    throw InvalidArgumentError(str_cat("variable_partitioner must return ", reason, "; for '", name,
                                       "' of shape ", to_string(shape), " it gave ",
                                       list_text(counts)));
  };
  if (counts.empty()) refuse("a non-empty list");
  if (int(counts.size()) != shape.rank()) refuse("as many numbers as the variable has axes");
  for (const int64_t count : counts)
    if (count < 1) refuse("positive numbers");
  for (size_t axis = 1; axis < counts.size(); ++axis)
    if (counts[axis] != 1) refuse("1 for all axes but the first");
  return std::max<int64_t>(std::min(counts[0], shape[0]), 1);
}

}  // namespace strategy_internal

namespace partitioners {

DISTRIBUTE_INLINE FixedShardsPartitioner::FixedShardsPartitioner(int64_t num_shards)
    : num_shards_(num_shards) {
  strategy_internal::check_positive("FixedShardsPartitioner", "num_shards", num_shards);
}

DISTRIBUTE_INLINE std::vector<int64_t> FixedShardsPartitioner::operator()(const Shape& shape, DType,
                                                                          int axis) const {
  return strategy_internal::along_axis(shape, axis, num_shards_);
}

DISTRIBUTE_INLINE FixedShardsPartitioner::operator VariablePartitioner() const { return {*this}; }

DISTRIBUTE_INLINE MinSizePartitioner::MinSizePartitioner(int64_t min_shard_bytes,
                                                         int64_t max_shards)
    : min_shard_bytes_(min_shard_bytes), max_shards_(max_shards) {
  const char* self = "MinSizePartitioner";
  strategy_internal::check_positive(self, "min_shard_bytes", min_shard_bytes);
  strategy_internal::check_positive(self, "max_shards", max_shards);
}

DISTRIBUTE_INLINE std::vector<int64_t> MinSizePartitioner::operator()(const Shape& shape,
                                                                      DType dtype, int axis) const {
  const int64_t bytes = shape.num_elements() * size_of(dtype);
  const int64_t begun = (bytes + min_shard_bytes_ - 1) / min_shard_bytes_;
  return strategy_internal::along_axis(shape, axis, std::min(begun, max_shards_));
}

DISTRIBUTE_INLINE MinSizePartitioner::operator VariablePartitioner() const { return {*this}; }

DISTRIBUTE_INLINE MaxSizePartitioner::MaxSizePartitioner(int64_t max_shard_bytes,
                                                         std::optional<int64_t> max_shards)
    : max_shard_bytes_(max_shard_bytes), max_shards_(max_shards) {
  const char* self = "MaxSizePartitioner";
  strategy_internal::check_positive(self, "max_shard_bytes", max_shard_bytes);
  strategy_internal::check_positive(self, "max_shards", max_shards.value_or(1));
}

DISTRIBUTE_INLINE std::vector<int64_t> MaxSizePartitioner::operator()(const Shape& shape,
                                                                      DType dtype, int axis) const {
  const int64_t rows = shape[axis];
  const int64_t row_bytes = shape.num_elements() / std::max<int64_t>(rows, 1) * size_of(dtype);
  const int64_t rows_per_shard =
      std::max<int64_t>(max_shard_bytes_ / std::max<int64_t>(row_bytes, 1), 1);
  const int64_t shards = (rows + rows_per_shard - 1) / rows_per_shard;
  return strategy_internal::along_axis(shape, axis, std::min(shards, max_shards_.value_or(shards)));
}

DISTRIBUTE_INLINE MaxSizePartitioner::operator VariablePartitioner() const { return {*this}; }

}  // namespace partitioners

DISTRIBUTE_INLINE Partitioner VariablePartitioner::get() const {
  const int ways = int(partitioner != nullptr) + int(num_shards != 0) + int(min_shard_bytes != 0) +
                   int(max_shard_bytes != 0);
  if (ways > 1 || (max_shards != 0 && (partitioner || num_shards != 0)))
    throw InvalidArgumentError(
        "variable_partitioner: give one of partitioner, num_shards, min_shard_bytes and "
        "max_shard_bytes; max_shards goes with the last two");
  if (partitioner) return partitioner;
  if (num_shards != 0) return partitioners::FixedShardsPartitioner(num_shards);
  if (max_shard_bytes != 0)
    return partitioners::MaxSizePartitioner(max_shard_bytes,
                                            max_shards ? std::optional(max_shards) : std::nullopt);
  if (min_shard_bytes != 0 || max_shards != 0)
    return partitioners::MinSizePartitioner(min_shard_bytes ? min_shard_bytes : 256 << 10,
                                            max_shards ? max_shards : 1);
  return nullptr;
}

}  // namespace distribute
