#pragma once
/// Reduces and broadcasts values between devices.

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

/// Axes of each replica's tensor that are reduced together with the replicas; none by default.
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
  /// A Mirrored with one copy, as reduce_to returns for one device, counts as a plain tensor.
  ReduceValue(const Mirrored<Tensor>& value)
      : kind(value.size() == 1 ? Kind::Single : Kind::Mirrored), values(value.values()) {}
  ReduceValue(const Tensor& value) : kind(Kind::Single), values{value} {}
  /// Takes each replica's value of a sync-on-read variable, the copies of a mirrored one, and the
  /// value of any other.
  ReduceValue(const Variable& variable);
  /// Takes a plain number; 1.5 is float32, as in Tensor(1.5).
  template <typename T>
  requires std::is_arithmetic_v<T> ReduceValue(T value)
      : kind(Kind::Single), values{Tensor(value)} {}
  template <Element T>
  ReduceValue(const PerReplica<T>& value) : kind(Kind::PerReplica) {
    for (const T& one : value.values()) values.emplace_back(one);
  }
};

/// The devices of a result: one device, or the devices of a value, which is not modified.
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

/// Computes reductions across devices. A strategy that is given one uses it for reductions in
/// cross-replica context, the replicas' all_reduce and the gradients of optimizers.
/// Thread-compatible: strategies call it from one thread at a time.
/// Source  tf.distribute.CrossDeviceOps
class CrossDeviceOps {
 public:
  virtual ~CrossDeviceOps() = default;
  /// Throws  InvalidArgumentError for no values, or shapes or dtypes that differ.
  Tensor reduce(ReduceOp op, const std::vector<Tensor>& per_replica);
  /// Reduces each value, which is one tensor per replica, separately; results are in the same
  /// order.
  std::vector<Tensor> batch_reduce(ReduceOp op, const std::vector<std::vector<Tensor>>& values);
  /// Returns `count` handles to the value, which is not copied.
  std::vector<Tensor> broadcast(const Tensor& value, int count);

  /// Returns true if the results are sums in the order of a binary tree over the replicas.
  /// Strategies then compute them faster, since each replica computes a share. A class that
  /// computes anything else must return false.
  virtual bool sums_in_replica_order() const { return false; }

 protected:
  virtual Tensor reduce_implementation(ReduceOp op, const std::vector<Tensor>& per_replica) = 0;
  /// Calls reduce_implementation() for one value after another, unless overridden.
  DISTRIBUTE_INLINE virtual std::vector<Tensor> batch_reduce_implementation(
      ReduceOp op, const std::vector<std::vector<Tensor>>& values);
};

/// Copies all values to one device and adds them there: ((0 1)(2 3))((4 5) 6). The result stays
/// there.
/// Source  tf.distribute.ReductionToOneDevice
class ReductionToOneDevice : public CrossDeviceOps {
 public:
  using AccumulationFunction = std::function<Tensor(const std::vector<Tensor>&)>;
  /// An empty device stands for the first device of the values, an empty function for the sum.
  /// Logical CPUs share one memory, so a value on any of them is on all.
  /// Throws  InvalidArgumentError for a name that is not a device of this process.
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

/// Sums as ReductionToOneDevice. Values of a batch travel between GPUs in packs; logical CPUs share
/// one memory, so there is nothing to copy and the number of packs does not matter. Source
/// tf.distribute.HierarchicalCopyAllReduce
class HierarchicalCopyAllReduce : public CrossDeviceOps {
 public:
  /// `num_packs` is the number of pieces into which the values of a batch are packed; 0 sends each
  /// value separately.
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

/// Reduces over NCCL if each value is on a different GPU. Otherwise, for sparse values, and without
/// NCCL, it copies the values to the first device and adds them as
/// ReductionToOneDevice. NCCL chooses the
/// order of a sum: it is the same for the same devices and size. The result is on the first value's
/// device. Thread-compatible.
/// Source  tf.distribute.NcclAllReduce
class NcclAllReduce : public CrossDeviceOps {
 public:
  /// The values of a batch are packed into `num_packs` messages; 0 sends each separately.
  /// Throws  InvalidArgumentError for a negative number.
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
