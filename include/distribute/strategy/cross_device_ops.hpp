#pragma once
/// How values of several devices become one, as an object that a strategy can be given.

#include <distribute/base/config.hpp>
#include <distribute/replica/reduce_op.hpp>
#include <distribute/replica/values.hpp>
#include <distribute/tensor/tensor.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace distribute {

/// Given to a strategy it serves reductions in cross-replica context, the replicas' all_reduce and
/// the gradients of optimizers. Thread-compatible: strategies call it from one thread at a time.
/// Source  tf.distribute.CrossDeviceOps
class CrossDeviceOps {
 public:
  virtual ~CrossDeviceOps() = default;
  /// Throws  InvalidArgumentError for no values, or shapes or dtypes that differ.
  Tensor reduce(ReduceOp op, const std::vector<Tensor>& per_replica);
  /// Reduces each value, which is one tensor per replica, by itself; results in their order.
  std::vector<Tensor> batch_reduce(ReduceOp op, const std::vector<std::vector<Tensor>>& values);
  /// `count` handles to the value, which is not copied.
  std::vector<Tensor> broadcast(const Tensor& value, int count);

  /// True when the results are sums in replica order, which replicas compute faster themselves,
  /// each a share. A class that does anything else leaves it false.
  virtual bool sums_in_replica_order() const { return false; }

 protected:
  virtual Tensor reduce_implementation(ReduceOp op, const std::vector<Tensor>& per_replica) = 0;
  /// Calls reduce_implementation() for one value after another, unless overridden.
  DISTRIBUTE_INLINE virtual std::vector<Tensor> batch_reduce_implementation(
      ReduceOp op, const std::vector<std::vector<Tensor>>& values);
};

/// Copies all values to one device and adds them there, in replica order. The result stays there.
/// Source  tf.distribute.ReductionToOneDevice
class ReductionToOneDevice : public CrossDeviceOps {
 public:
  using AccumulationFunction = std::function<Tensor(const std::vector<Tensor>&)>;
  /// Empty arguments: the first device of the values, and a sum. Logical CPUs share one memory, so
  /// a value on any of them is on all.
  /// Throws  InvalidArgumentError for a name that is no device of this process.
  explicit ReductionToOneDevice(std::string reduce_to_device = {},
                                AccumulationFunction accumulation_fn = {});
  bool sums_in_replica_order() const override { return !accumulation_fn_ && !device_; }

 protected:
  DISTRIBUTE_INLINE Tensor reduce_implementation(ReduceOp op,
                                                 const std::vector<Tensor>& per_replica) override;

 private:
  std::optional<Device> device_;
  AccumulationFunction accumulation_fn_;
};

/// Sums in replica order. Values of a batch travel between GPUs in packs; logical CPUs share one
/// memory, so there is nothing to copy and the number of packs does not matter.
/// Source  tf.distribute.HierarchicalCopyAllReduce
class HierarchicalCopyAllReduce : public CrossDeviceOps {
 public:
  /// `num_packs`: into how many pieces the values of a batch are laid together; 0: each by itself.
  /// Throws  InvalidArgumentError for a negative number.
  explicit HierarchicalCopyAllReduce(int num_packs = 1);
  bool sums_in_replica_order() const override { return true; }

 protected:
  DISTRIBUTE_INLINE Tensor reduce_implementation(ReduceOp op,
                                                 const std::vector<Tensor>& per_replica) override;
  DISTRIBUTE_INLINE std::vector<Tensor> batch_reduce_implementation(
      ReduceOp op, const std::vector<std::vector<Tensor>>& values) override;

 private:
  int num_packs_;
};

}  // namespace distribute
