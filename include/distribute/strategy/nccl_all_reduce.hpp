#pragma once
/// Reductions between GPUs over NCCL, as an object that a strategy can be given.

#include <distribute/base/config.hpp>
#include <distribute/strategy/cross_device_ops.hpp>

#include <memory>
#include <vector>

namespace distribute {

/// Over NCCL where every value is on a GPU of its own; else, and for sparse values or without NCCL,
/// copies to the first device are added there in replica order. NCCL chooses the order of a sum: it
/// is the same for the same devices and size. The result is on the first value's device. Thread-
/// compatible.
/// Source  tf.distribute.NcclAllReduce
class NcclAllReduce : public CrossDeviceOps {
 public:
  /// `num_packs`: into how many messages the values of a batch are laid together; 0: each by
  /// itself. Throws  InvalidArgumentError for a negative number.
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
