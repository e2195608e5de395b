#pragma once
/// Variables cut into shards, and partitioners, which choose the number of shards.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/tensor/shape.hpp>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace distribute {

/// Returns the number of shards along each axis.
/// Source  tf.distribute.experimental.partitioners.Partitioner
using Partitioner = std::function<std::vector<int64_t>(const Shape& shape, DType dtype)>;

/// A partitioner as strategies take it: any Partitioner, or limits as options. It is an aggregate
/// so that `.variable_partitioner = {.min_shard_bytes = 256 << 10, .max_shards = 2}` can be
/// written.
struct VariablePartitioner {
  Partitioner partitioner = nullptr;
  int64_t num_shards = 0;       // FixedShardsPartitioner
  int64_t min_shard_bytes = 0;  // MinSizePartitioner
  int64_t max_shard_bytes = 0;  // MaxSizePartitioner
  // for the two with sizes; if set alone, for a MinSizePartitioner with 256 KiB
  int64_t max_shards = 0;

  /// Returns the partitioner that the members describe; null if none is set.
  /// Throws  InvalidArgumentError for limits that exclude each other, and what those classes throw.
  Partitioner get() const;
};

namespace partitioners {

/// Cuts into a fixed number of shards, or one for each row if there are fewer rows.
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

/// Makes one shard for each started `min_shard_bytes`, at most `max_shards`. As in TensorFlow,
/// shards of a variable whose size is not a multiple of it are a little smaller.
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

/// Makes the smallest number of shards of at most `max_shard_bytes` each; `max_shards` takes
/// precedence, and a row is never cut.
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

/// Divides `rows` rows into shards: the first rows % shards of them have one more ("div").
std::vector<ShardRows> shard_rows(int64_t rows, int64_t shards);

/// Returns the number of shards of variable `name`; 1 for a scalar.
/// Throws  InvalidArgumentError that names variable_partitioner when the result is not one positive
///          number per axis, all but the first being 1.
int64_t num_shards(const Partitioner& partitioner, const std::string& name, const Shape& shape,
                   DType dtype);

}  // namespace strategy_internal

namespace strategy_internal {

/// Reads and writes the shards of a variable as one tensor. A read joins the shards and is
/// recorded, so that the gradient reaches each shard; a write cuts the value into the shards.
class ShardedVariableImpl final : public VariableImpl {
 public:
  /// `parts` must fit together.
  ShardedVariableImpl(std::vector<Variable> parts, VariableOptions options);

  DISTRIBUTE_INLINE Tensor read() const override;
  DISTRIBUTE_INLINE void assign(const Tensor& value) override;
  DISTRIBUTE_INLINE void assign_add(const Tensor& delta) override;
  DISTRIBUTE_INLINE void assign_sub(const Tensor& delta) override;
  DISTRIBUTE_INLINE Tensor component(int replica) const override;
  DISTRIBUTE_INLINE void set_component(int replica, Tensor value) override;
  /// Applies to every shard the slices of its rows.
  DISTRIBUTE_INLINE void scatter(ScatterOp op, const IndexedSlices& slices) override;

  Shape shape() const override { return shape_; }
  DType dtype() const override { return parts_[0].dtype(); }
  DISTRIBUTE_INLINE std::string device() const override;
  const std::vector<Variable>& parts() const override { return parts_; }
  bool reads_rows() const override { return false; }

 private:
  std::vector<Variable> parts_;
  Shape shape_;
};

/// Throws  as ShardedVariable's constructor.
Variable join_shards(std::vector<Variable> parts, VariableOptions options);
/// Returns the variable whose shards these are, as another handle than the one made with them.
Variable view_of_shards(std::vector<Variable> shards);

}  // namespace strategy_internal

/// Refers to a variable whose rows lie in several variables; it works wherever a Variable does.
/// Layers read it as one tensor, embeddings look up in each shard, optimizers get the shards
/// (model.trainable_variables() lists them), and checkpoints hold one tensor, which any number of
/// shards can restore.
/// Source  tf.python.distribute.sharded_variable.ShardedVariable
class ShardedVariable : public Variable {
 public:
  /// Shards in order. They must not be shards of another variable.
  /// Throws  InvalidArgumentError for no shards, an empty handle, dtypes that differ, shapes that
  ///         differ beyond the first axis, or a SaveSliceInfo that is set.
  explicit ShardedVariable(std::vector<Variable> variables, std::string name = "ShardedVariable");
  /// Makes another handle to `variable`.
  /// Throws  InvalidArgumentError when that has no shards.
  explicit ShardedVariable(const Variable& variable);

  /// Returns the shards in order; together their rows are those of the variable.
  const std::vector<Variable>& variables() const { return impl().parts(); }
  size_t size() const { return variables().size(); }
  std::vector<Variable>::const_iterator begin() const { return variables().begin(); }
  std::vector<Variable>::const_iterator end() const { return variables().end(); }

  /// Returns row i; negative ones count from the end. Reads one shard.
  /// Throws  OutOfRangeError
  Tensor operator[](int64_t i) const;
  /// Returns sv[begin:end:step, ...]; reads only the shards that contain such rows.
  Tensor slice(std::span<const Range> ranges) const;
  Tensor slice(std::initializer_list<Range> ranges) const {
    return slice(std::span(ranges.begin(), ranges.size()));
  }
};

}  // namespace distribute
