#pragma once
/// Sums of gradients between hosts, begun while the backward pass still runs.

#include <distribute/base/config.hpp>
#include <distribute/collective/communication_options.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/strategy/detail/gradient_slots.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace distribute {
class RecordedStep;
}

namespace distribute::strategy_internal {

/// Numbers of updates, as the ranks exchange them.
using GradientOrder = std::vector<uint64_t>;

/// Gradients of one replica, cut into buckets in the order in which rank 0's backward pass produced
/// them: 1 MiB for the first, so that sending begins early, then 25 MiB. Sums are taken in rank
/// order, so their bits do not depend on the buckets; NCCL, for gradients on a GPU, has its own
/// order. One replica thread.
/// 1. All ranks have the same buckets, and reduce them in the same order.
/// 2. A full bucket is reduced at once by the communicator's thread.
/// Source  Li et al., "PyTorch Distributed", VLDB 2020
class GradientBuckets {
 public:
  /// `group` works in host memory, `sums` on the device of the gradients; often both are the same.
  GradientBuckets(std::shared_ptr<collective::Communicator> group,
                  std::shared_ptr<collective::Communicator> sums,
                  const CommunicationOptions& options)
      : group_(std::move(group)), sums_(std::move(sums)), options_(options) {}

  /// Waits for sums in progress, which a failed step has left; they use this memory.
  DISTRIBUTE_INLINE virtual ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  /// Whether the buckets were planned for these variables.
  bool fits(std::span<const VariableUpdate> updates) const;
  /// Makes buckets for these variables. Every rank calls it.
  /// Throws  FailedPreconditionError when the ranks' gradients differ in shape.
  void plan(std::span<const VariableUpdate> updates);

  /// Adds a gradient of this step that is complete; the step's update must use the same one.
  void ready(const Variable& variable, const Tensor& gradient);
  /// Returns the sums over all ranks, in the order of the updates. The next step overwrites them.
  std::vector<Tensor> reduce(std::span<const VariableUpdate> updates);
  /// Waits for the sums of this step that have begun, and forgets its gradients: the step's update
  /// gets its sums elsewhere.
  void drop();

 protected:
  struct Bucket {
    size_t first, last;  // slots
    int64_t begin, end;  // bytes
    size_t missing = 0;  // gradients of this step that have not come yet
    collective::Work work;
  };
  /// Copies a gradient into the memory that is summed.
  virtual void store(size_t slot, const Tensor& gradient) { slots_->bring_home(slot, gradient); }
  /// Begin the sum of a bucket whose gradients are all here, and wait for it.
  DISTRIBUTE_INLINE virtual void launch(Bucket& bucket);
  DISTRIBUTE_INLINE virtual void finish(Bucket& bucket);
  /// Takes the gradients of this step that ready() did not bring.
  void take_all(std::span<const VariableUpdate> updates);
  void begin_step();
  /// Waits for what has begun, and takes no notice of errors.
  void settle();
  /// Converts a bucket's gradients to bfloat16; gives them.
  char* narrowed(const Bucket& bucket);
  /// Converts bfloat16 numbers at byte `from` of the memory into floats at byte `to`.
  void widen(int64_t to, int64_t from, int64_t count);
  /// Elements of the memory from byte `at` on.
  Tensor part(int64_t at, int64_t count, DType dtype) const;

  std::shared_ptr<collective::Communicator> group_, sums_;
  const CommunicationOptions options_;
  std::vector<size_t> slot_of_;     // update -> slot
  std::shared_ptr<Buffer> memory_;  // gradients, sums, and with bfloat16 the converted gradients
  int64_t bytes_ = 0;               // of the gradients
  std::unique_ptr<GradientSlots> slots_;
  std::vector<Bucket> buckets_;

 private:
  std::vector<size_t> order_of(std::span<const VariableUpdate> updates);
  std::vector<size_t> order_of_first(const std::vector<size_t>& mine);
  void allocate(int64_t bytes);
  void cut(size_t slots);
  void follow_recording();
  void take(size_t slot, const Tensor& gradient);
  void sum(Bucket& bucket, const void* from, void* to, int64_t count, DType dtype);

  std::vector<uint64_t> observed_;           // variables in the order of their gradients
  std::vector<uint64_t> variables_;          // of the slots
  std::vector<bool> taken_;                  // slots of this step
  size_t launched_ = 0;                      // buckets of this step
  const RecordedStep* recording_ = nullptr;  // recording of which this step is part
};

}  // namespace distribute::strategy_internal
