#pragma once
/// How values of several devices are reduced and broadcast.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/replica/values.hpp>
#include <distribute/tensor/tensor.hpp>

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute {

/// A ReduceOp or its name, "SUM" or "mean".
struct ReduceOpArgument {
  ReduceOp op;
  ReduceOpArgument(ReduceOp value) : op(value) {}
  ReduceOpArgument(const char* name) : op(reduce_op_from_string(name)) {}
  ReduceOpArgument(const std::string& name) : op(reduce_op_from_string(name)) {}
};

/// Without axes only the replicas are reduced, else also these axes of each replica's tensor.
/// Negative axes count from the end.
struct ReduceAxis {
  bool given = false;
  std::vector<int> axes = {};
  ReduceAxis() = default;
  ReduceAxis(int axis) : given(true), axes{axis} {}
  ReduceAxis(std::initializer_list<int> all) : given(true), axes(all) {}
  ReduceAxis(std::vector<int> all) : given(true), axes(std::move(all)) {}
};

/// One tensor per replica, a mirrored one, or one that is not distributed.
struct ReduceValue {
  enum class Kind { PerReplica, Mirrored, Single } kind;
  std::vector<Tensor> values;
  ReduceValue(const PerReplica<Tensor>& value) : kind(Kind::PerReplica), values(value.values()) {}
  /// With one copy, as reduce_to gives for one device, a plain tensor.
  ReduceValue(const Mirrored<Tensor>& value)
      : kind(value.size() == 1 ? Kind::Single : Kind::Mirrored), values(value.values()) {}
  ReduceValue(const Tensor& value) : kind(Kind::Single), values{value} {}
  /// Takes each replica's value of a sync-on-read variable, the copies of a mirrored one, and the
  /// value of any other.
  ReduceValue(const Variable& variable);
  /// A plain number; 1.5 is float32, as in Tensor(1.5).
  template <typename T>
  requires std::is_arithmetic_v<T> ReduceValue(T value)
      : kind(Kind::Single), values{Tensor(value)} {}
  template <Element T>
  ReduceValue(const PerReplica<T>& value) : kind(Kind::PerReplica) {
    for (const T& one : value.values()) values.emplace_back(one);
  }
};

/// Where a result goes: a device, or the devices of a value, which is not modified.
/// Throws  InvalidArgumentError when empty.
struct Destinations {
  std::vector<Device> devices;
  std::string task = {};  // of a device's name, such as "/job:worker/replica:0/task:1"
  Destinations(const char* device);
  Destinations(const std::string& device);
  Destinations(const Tensor& value);
  Destinations(const Variable& variable);
  Destinations(const PerReplica<Tensor>& value);
};

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

/// Over NCCL where every value is on a GPU of its own; else, and for sparse values or without NCCL,
/// copies to the first device are added there in replica order. NCCL chooses the order of a sum: it
/// is the same for the same devices and size. The result is on the first value's device. Thread-
/// compatible.
/// Source  tf.distribute.NcclAllReduce
class NcclAllReduce : public CrossDeviceOps {
 public:
  /// The values of a batch are joined into `num_packs` messages; 0 sends each by itself. Throws
  /// InvalidArgumentError for a negative number.
  explicit NcclAllReduce(int num_packs = 1);

 protected:
  DISTRIBUTE_INLINE Tensor reduce_implementation(ReduceOp op,
                                                 const std::vector<Tensor>& per_replica) override;
  DISTRIBUTE_INLINE std::vector<Tensor> batch_reduce_implementation(
      ReduceOp op, const std::vector<std::vector<Tensor>>& values) override;

 private:
  struct Groups;

  int num_packs_;
  std::shared_ptr<Groups> groups_;
};

}  // namespace distribute
