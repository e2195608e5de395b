#pragma once
/// Into how many shards a variable is cut.

#include <distribute/base/config.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/tensor/shape.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

/// Gives the number of shards along each axis.
/// Source  tf.distribute.experimental.partitioners.Partitioner
using Partitioner = std::function<std::vector<int64_t>(const Shape& shape, DType dtype)>;

/// What a strategy takes: any Partitioner, or limits as options. An aggregate, so that
/// `.variable_partitioner = {.min_shard_bytes = 256 << 10, .max_shards = 2}` can be written.
struct VariablePartitioner {
  Partitioner partitioner = nullptr;
  int64_t num_shards = 0;       // FixedShardsPartitioner
  int64_t min_shard_bytes = 0;  // MinSizePartitioner
  int64_t max_shard_bytes = 0;  // MaxSizePartitioner
  int64_t max_shards = 0;       // for the two with sizes; alone: MinSizePartitioner's 256 KiB

  /// The partitioner that is meant; null for none.
  /// Throws  InvalidArgumentError for limits that exclude each other, and what those classes throw.
  Partitioner get() const;
};

namespace partitioners {

/// Always that many shards, or as many as there are rows.
/// Source  tf.distribute.experimental.partitioners.FixedShardsPartitioner
class FixedShardsPartitioner {
 public:
  /// Throws  InvalidArgumentError for num_shards < 1.
  explicit FixedShardsPartitioner(int64_t num_shards);
  /// Throws  InvalidArgumentError for an axis that the shape lacks.
  std::vector<int64_t> operator()(const Shape& shape, DType dtype, int axis = 0) const;
  operator VariablePartitioner() const;

 private:
  int64_t num_shards_;
};

/// A shard for each `min_shard_bytes` that have begun, as TensorFlow counts: a variable that is no
/// multiple of it gets shards that are a little smaller. At most `max_shards`.
/// Source  tf.distribute.experimental.partitioners.MinSizePartitioner
class MinSizePartitioner {
 public:
  /// Throws  InvalidArgumentError for a number below one.
  explicit MinSizePartitioner(int64_t min_shard_bytes = 256 << 10, int64_t max_shards = 1);
  std::vector<int64_t> operator()(const Shape& shape, DType dtype, int axis = 0) const;
  operator VariablePartitioner() const;

 private:
  int64_t min_shard_bytes_, max_shards_;
};

/// As few shards as possible with at most `max_shard_bytes` each; `max_shards` wins, and a row is
/// never cut.
/// Source  tf.distribute.experimental.partitioners.MaxSizePartitioner
class MaxSizePartitioner {
 public:
  /// Throws  InvalidArgumentError for a number below one.
  explicit MaxSizePartitioner(int64_t max_shard_bytes, std::optional<int64_t> max_shards = {});
  std::vector<int64_t> operator()(const Shape& shape, DType dtype, int axis = 0) const;
  operator VariablePartitioner() const;

 private:
  int64_t max_shard_bytes_;
  std::optional<int64_t> max_shards_;
};

}  // namespace partitioners

namespace strategy_internal {

/// Rows [begin, end) of one shard.
struct ShardRows {
  int64_t begin, end;
};

/// The shards of `rows` rows: the first rows % shards of them have one more ("div").
std::vector<ShardRows> shard_rows(int64_t rows, int64_t shards);

/// How many shards variable `name` is cut into; 1 for a scalar.
/// Throws  InvalidArgumentError that names variable_partitioner when the answer is not one positive
///         number per axis, all but the first being 1.
int64_t num_shards(const Partitioner& partitioner, const std::string& name, const Shape& shape,
                   DType dtype);

}  // namespace strategy_internal

}  // namespace distribute
