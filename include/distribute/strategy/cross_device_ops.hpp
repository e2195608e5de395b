#pragma once
/// How values of several devices become one, as an object that a strategy can be given.

#include <distribute/base/config.hpp>
#include <distribute/replica/reduce_op.hpp>
#include <distribute/replica/values.hpp>
#include <distribute/tensor/tensor.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace distribute {

/// Thread-compatible.
/// Source  tf.distribute.CrossDeviceOps
class CrossDeviceOps {
 public:
  virtual ~CrossDeviceOps() = default;
  /// Throws  InvalidArgumentError for no values, or shapes or dtypes that differ.
  Tensor reduce(ReduceOp op, const std::vector<Tensor>& per_replica);
  /// One result for each value.
  std::vector<Tensor> batch_reduce(ReduceOp op, const std::vector<std::vector<Tensor>>& values);
  /// The tensor on each of `count` devices.
  std::vector<Tensor> broadcast(const Tensor& value, int count);

 protected:
  virtual Tensor reduce_implementation(ReduceOp op, const std::vector<Tensor>& per_replica) = 0;
};

/// Copies all values to one device and adds them there, in replica order.
/// Source  tf.distribute.ReductionToOneDevice
class ReductionToOneDevice : public CrossDeviceOps {
 public:
  using AccumulationFunction = std::function<Tensor(const std::vector<Tensor>&)>;
  /// Empty arguments: the first device of the values, and a sum.
  explicit ReductionToOneDevice(std::string reduce_to_device = {},
                                AccumulationFunction accumulation_fn = {});

 protected:
  Tensor reduce_implementation(ReduceOp op, const std::vector<Tensor>& per_replica) override;

 private:
  AccumulationFunction accumulation_fn_;
};

/// A tree of copies where devices have memories of their own; on the CPU, the only device so far,
/// the same sum in replica order.
/// Source  tf.distribute.HierarchicalCopyAllReduce
class HierarchicalCopyAllReduce : public CrossDeviceOps {
 public:
  /// Throws  InvalidArgumentError for a negative number.
  explicit HierarchicalCopyAllReduce(int num_packs = 1);

 protected:
  Tensor reduce_implementation(ReduceOp op, const std::vector<Tensor>& per_replica) override;
};

}  // namespace distribute

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/strategy/impl/cross_device_ops.ipp>
#endif
