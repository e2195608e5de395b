#pragma once
/// Which replica the calling thread computes for, and what replicas do together.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/replica/reduce_op.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace distribute {

class Strategy;

/// One variable's part of an optimizer step.
struct VariableUpdate {
  Variable variable;
  std::vector<Variable> slots;  // same shape as the variable
  Tensor gradient;              // this replica's
};

/// Updates `count` neighbouring elements in place: weights and each slot from the gradient. Must be
/// elementwise, so that the elements of a step may be dealt to threads in any way.
using UpdateKernel = std::function<void(size_t update, float* weights, float* const* slots,
                                        const float* gradient, int64_t count)>;

/// The calling thread's replica. Every replica of a strategy must make the same calls in the same
/// order.
/// Source  tf.distribute.ReplicaContext
class ReplicaContext {
 public:
  virtual ~ReplicaContext() = default;

  /// In [0, num_replicas_in_sync).
  virtual int replica_id_in_sync_group() const = 0;
  virtual int num_replicas_in_sync() const = 0;
  /// Index among this process's replicas: which component of a variable is this replica's.
  virtual int local_replica_id() const { return replica_id_in_sync_group(); }
  virtual Strategy& strategy() const = 0;

  /// Sums or averages over all replicas and gives each replica the result; the gradient of
  /// all_reduce(op) is all_reduce(op).
  /// Blocks  until every replica has called it.
  virtual std::vector<Tensor> all_reduce(ReduceOp op, std::span<const Tensor> values) = 0;
  Tensor all_reduce(ReduceOp op, const Tensor& value);
  /// Concatenates over all replicas along `axis`; shapes may differ there only.
  virtual Tensor all_gather(const Tensor& value, int axis) = 0;

  /// Runs `fn` once, in cross-replica context, when every local replica has called; the untyped
  /// heart of merge_call. `argument` of every local replica is handed over in replica order.
  virtual void merge(const std::function<void(std::span<void* const>)>& fn, void* argument) = 0;

  /// Sums the gradients over all replicas (unless they are reduced already) and applies `kernel`
  /// to every element once; each replica then sees the new values.
  /// Throws  InvalidArgumentError for variables that are not float32.
  virtual void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                      const UpdateKernel& kernel) = 0;
};

/// The calling thread's replica; null in cross-replica context. Without any strategy it is the
/// default strategy's one replica.
/// Source  tf.distribute.get_replica_context
ReplicaContext* get_replica_context();

/// Source  tf.distribute.in_cross_replica_context
bool in_cross_replica_context();

namespace replica_internal {

/// What a thread is doing: nothing special, one replica's part, or the part between replicas.
struct Mode {
  ReplicaContext* replica = nullptr;  // null: cross-replica
  Strategy* strategy = nullptr;
  int update_replica = -1;  // inside extended.update: the component being updated
};

/// What get_replica_context() answers where no strategy is in scope.
ReplicaContext& default_replica_context();

/// Innermost last; empty: the default replica context.
std::vector<Mode>& mode_stack();

/// The replica whose component a variable shows to the calling thread; -1 in cross-replica context.
int current_local_replica();

/// Applies updates whose gradients are complete to the component `replica` of each variable, the
/// elements dealt to the calling thread's pool.
void update_component(std::span<const VariableUpdate> updates, int replica,
                      const UpdateKernel& kernel);

/// Variable and slots of one update with memory that may be written: taken out of the components
/// [first, first + count), which share one value, brought into the gradient's layout, copied when
/// anybody else still reads them.
class UpdateTarget {
 public:
  UpdateTarget(const VariableUpdate& update, int first, int count);
  /// Elements of the block, padding of its layout included.
  int64_t size() const { return size_; }
  const LayoutPtr& layout() const { return tensors_[0].layout(); }
  float* weights() const { return pointers_[0]; }
  float* const* slots() const { return pointers_.data() + 1; }
  /// Gives the written memory back to the components, which share it again.
  void store();

 private:
  void take(const Variable& variable, const LayoutPtr& layout);

  const VariableUpdate& update_;
  int first_, count_;
  std::vector<Tensor> tensors_;
  std::vector<float*> pointers_;
  int64_t size_ = 0;
};

/// A stretch of one target's elements.
struct UpdateSlice {
  size_t target;
  int64_t begin, count;
};

/// All elements of `targets` cut into slices of at most 16,384 elements, in order; sparse gradients
/// excepted.
std::vector<UpdateSlice> slice_updates(std::span<const UpdateTarget> targets);

}  // namespace replica_internal

}  // namespace distribute

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/replica/impl/replica_context.ipp>
#include <distribute/replica/single_replica.hpp>
#endif
