#pragma once
/// One variable made of several, each with some of its rows.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/ops/slice.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace distribute {

namespace strategy_internal {

/// Reads join the shards, recorded, so that the gradient flows to each of them; writes are cut.
class ShardedVariableImpl final : public VariableImpl {
 public:
  /// Shards that fit together.
  ShardedVariableImpl(std::vector<Variable> parts, VariableOptions options);

  DISTRIBUTE_INLINE Tensor read() const override;
  DISTRIBUTE_INLINE void assign(const Tensor& value) override;
  DISTRIBUTE_INLINE void assign_add(const Tensor& delta) override;
  DISTRIBUTE_INLINE void assign_sub(const Tensor& delta) override;
  DISTRIBUTE_INLINE Tensor component(int replica) const override;
  DISTRIBUTE_INLINE void set_component(int replica, Tensor value) override;
  /// Every shard changes the rows that are its own.
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
/// The variable whose shards these are; not the handle that was made with them.
Variable view_of_shards(std::vector<Variable> shards);

}  // namespace strategy_internal

/// A handle to a variable whose rows lie in several; works wherever a Variable does. Layers read it
/// as one tensor, embeddings look up in each shard, optimizers see the shards
/// (model.trainable_variables() lists them), checkpoints hold one tensor that any number of shards
/// can take up again.
/// Source  tf.python.distribute.sharded_variable.ShardedVariable
class ShardedVariable : public Variable {
 public:
  /// Shards in order. They must not be shards of another variable.
  /// Throws  InvalidArgumentError for no shards, an empty handle, dtypes that differ, shapes that
  ///         differ beyond the first axis, or a SaveSliceInfo that is set.
  explicit ShardedVariable(std::vector<Variable> variables, std::string name = "ShardedVariable");
  /// The same variable as `variable`.
  /// Throws  InvalidArgumentError when that has no shards.
  explicit ShardedVariable(const Variable& variable);

  /// The shards in order; together their rows are those of the variable.
  const std::vector<Variable>& variables() const { return impl().parts(); }
  size_t size() const { return variables().size(); }
  std::vector<Variable>::const_iterator begin() const { return variables().begin(); }
  std::vector<Variable>::const_iterator end() const { return variables().end(); }

  /// Row i; negative ones count from the end. Reads one shard.
  /// Throws  OutOfRangeError
  Tensor operator[](int64_t i) const;
  /// sv[begin:end:step, ...]; reads the shards that have rows of it.
  Tensor slice(std::span<const Range> ranges) const;
  Tensor slice(std::initializer_list<Range> ranges) const {
    return slice(std::span(ranges.begin(), ranges.size()));
  }
};

}  // namespace distribute
