#pragma once
/// Tells which replica the calling thread computes for, and has what replicas do together.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/replica/detail/gpu_update.hpp>
#include <distribute/replica/detail/meeting.hpp>
#include <distribute/replica/detail/update_kernel.hpp>
#include <distribute/replica/nest.hpp>
#include <distribute/replica/values.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute {

class ReplicaContext;
class Strategy;

namespace replica_internal {
class GradientReducer;
/// Gives optimizers the reducer of the replica's gradients.
GradientReducer& reducer_of(ReplicaContext& replica);
}  // namespace replica_internal

/// A nested structure whose tensors all_reduce() reduces one by one; a list of tensors has its own
/// overload.
template <typename T>
concept NestedOperand = NestedTensors<T> && !std::convertible_to<const T&, std::span<const Tensor>>;

/// Is satisfied by a structure whose tensors all_gather() gathers one by one.
template <typename T>
concept TensorParts = NestedTensors<T> || std::same_as<T, std::vector<Tensor>>;

/// The replicas that make the same step together.
class SyncGroup {
 public:
  virtual ~SyncGroup() = default;
  virtual int num_replicas_in_sync() const = 0;
};

/// What an optimizer step needs to update one variable.
struct VariableUpdate {
  Variable variable;
  std::vector<Variable> slots;  // same shape as the variable
  Tensor gradient;              // this replica's gradient
};

/// The replica that the calling thread computes for. Every replica of a strategy must make the same
/// calls in the same order.
/// Source  tf.distribute.ReplicaContext
class ReplicaContext {
 public:
  virtual ~ReplicaContext() = default;

  /// This replica's number in the job, in [0, num_replicas_in_sync).
  virtual int replica_id_in_sync_group() const = 0;
  virtual int num_replicas_in_sync() const = 0;
  /// Index among this process's replicas, by which components of variables are chosen.
  virtual int local_replica_id() const { return replica_id_in_sync_group(); }
  virtual Strategy& strategy() const = 0;

  /// Sums or averages over all replicas and gives each replica the result; the gradient of
  /// all_reduce(op) is all_reduce(op).
  /// Blocks  until every replica has called it.
  virtual std::vector<Tensor> all_reduce(ReduceOp op, std::span<const Tensor> values) = 0;
  Tensor all_reduce(ReduceOp op, const Tensor& value);
  /// Reduces each tensor of a nested structure.
  /// Throws  InvalidArgumentError when the structures of the replicas differ in size.
  template <NestedOperand T>
  T all_reduce(ReduceOp op, const T& value);
  /// Takes the reduction by name, "SUM" or "MEAN".
  template <typename T>
  T all_reduce(const char* op, const T& value) {
    return all_reduce(reduce_op_from_string(op), value);
  }
  /// Concatenates over all replicas along `axis`; shapes may differ there only.
  virtual Tensor all_gather(const Tensor& value, int axis) = 0;
  /// Gathers each tensor of a nested structure or of a list.
  template <TensorParts T>
  T all_gather(const T& value, int axis);

  /// Runs `fn` once, in cross-replica context, as soon as every local replica has called merge().
  void merge(const std::function<void()>& fn);
  /// Runs fn(all) once. `all` refers to the `mine` of every local replica, in replica order; `fn`
  /// may read and write them.
  template <typename T, typename Fn>
  void merge(T& mine, Fn&& fn) {
    merge_untyped(replica_internal::untyped_lead<T>(fn), replica_internal::untyped(mine));
  }

  /// Runs fn(strategy, PerReplica<Args>...) once, in cross-replica context, on replica 0's thread.
  /// Every replica gets the result, or its own part of it when the result is a PerReplica.
  /// Blocks  until every local replica has called it.
  /// Throws  what `fn` throws, on replica 0, and AbortedError on the others.
  template <typename... Args, replica_internal::MergeFunction<Args...> Fn>
  auto merge_call(Fn&& fn, const Args&... args);

  /// Sums the gradients over all replicas (unless they are reduced already) and applies `kernel`
  /// to every element once; each replica then sees the new values.
  /// Throws  InvalidArgumentError for variables that are not float32.
  void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
              const UpdateKernel& kernel);

 private:
  friend replica_internal::GradientReducer& replica_internal::reducer_of(ReplicaContext& replica);
  /// Returns the reducer of this replica's gradients, which the strategy chooses.
  virtual replica_internal::GradientReducer& gradient_reducer() = 0;
  /// Does the work of merge() in every strategy. `mine` is this replica's object.
  virtual void merge_untyped(const replica_internal::MeetingLead& lead, void* mine) = 0;
};

template <typename... Args, replica_internal::MergeFunction<Args...> Fn>
auto ReplicaContext::merge_call(Fn&& fn, const Args&... args) {
  using Whole = std::decay_t<std::invoke_result_t<Fn&, Strategy&, const PerReplica<Args>&...>>;
  using Part = replica_internal::ReplicaPart<Whole>;
  using Call = replica_internal::MergeCall<typename Part::type, Args...>;
  const auto invoke = [&]<size_t... I>([[maybe_unused]] replica_internal::Meeting<Call> calls,
                                       std::index_sequence<I...>) {
    return fn(strategy(), replica_internal::merged_argument<I, Args, Call>(calls)...);
  };
  Call mine{{&args...}, {}};
  merge(mine, [&](replica_internal::Meeting<Call> calls) {
    constexpr auto kIndices = std::index_sequence_for<Args...>();
    if constexpr (std::is_void_v<Whole>) {
      invoke(calls, kIndices);
    } else {
      const Whole whole = invoke(calls, kIndices);
      for (size_t r = 0; r < calls.size(); ++r) calls[r].result.emplace(Part::of(whole, r));
    }
  });
  if constexpr (!std::is_void_v<Whole>) return *std::move(mine.result);
}

template <NestedOperand T>
T ReplicaContext::all_reduce(ReduceOp op, const T& value) {
  T result = value;
  const replica_internal::TensorsOf tensors(result);
  tensors.replace(all_reduce(op, tensors.values()));
  return result;
}

template <TensorParts T>
T ReplicaContext::all_gather(const T& value, int axis) {
  T result = value;
  const replica_internal::TensorsOf tensors(result);
  std::vector<Tensor> gathered;
  for (const Tensor& one : tensors.values()) gathered.push_back(all_gather(one, axis));
  tensors.replace(gathered);
  return result;
}

/// Returns the calling thread's replica; null in cross-replica context. Without any strategy, and
/// inside the default strategy's scope, it is the one replica of the default strategy.
/// Source  tf.distribute.get_replica_context
ReplicaContext* get_replica_context();

/// Source  tf.distribute.in_cross_replica_context
bool in_cross_replica_context();

/// Returns the number of replicas of the strategy that the calling thread is in; 1 without a
/// strategy.
int current_num_replicas_in_sync();

namespace replica_internal {

/// Says what a thread is doing: nothing special, one replica's part, or the part between replicas.
struct Mode {
  ReplicaContext* replica = nullptr;  // null in cross-replica context
  Strategy* strategy = nullptr;
  int update_replica = -1;           // inside extended.update: the component that is updated
  const SyncGroup* group = nullptr;  // cross-replica: the strategy's replicas; null: one replica
};

/// Returns the context that get_replica_context() returns where no strategy is in scope.
ReplicaContext& default_replica_context();

/// Returns the modes of the calling thread, the innermost last; an empty stack means the default
/// replica context.
std::vector<Mode>& mode_stack();

/// Puts the calling thread into a mode for the life of the object.
class [[nodiscard]] ModeScope {
 public:
  explicit ModeScope(const Mode& mode);
  ~ModeScope();
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;
};

/// Throws  InvalidArgumentError unless variable, slots and gradient are float32 of one shape.
void check_update(const VariableUpdate& update);

/// Applies updates whose gradients are complete to the component `replica` of each variable. The
/// elements are dealt to the threads of the calling thread's pool, or the GPU of the update does
/// the work. The first update is number `first` of the kernel's.
void update_component(std::span<const VariableUpdate> updates, int replica,
                      const UpdateKernel& kernel, size_t first = 0);

/// Does the same for updates that are checked already and happen on the replica's own GPU. It reads
/// and writes only components of this replica.
void update_on_gpu(std::span<const VariableUpdate> updates, int replica, const GpuUpdate& gpu,
                   size_t first);

/// Returns the device of an update: the GPU of its variable or gradient, else the CPU.
Device update_device(const VariableUpdate& update, int replica);

/// Writable memory for the variable and slots of one update. They are taken out of the components
/// [first, first + count), which share one value, brought into the gradient's layout, and copied
/// when they are still shared.
class UpdateTarget {
 public:
  UpdateTarget(const VariableUpdate& update, int first, int count);
  UpdateTarget(UpdateTarget&&) = default;
  ~UpdateTarget() { store(); }  // so that an error does not lose the variable
  /// Returns the number of elements of the block, including the padding of its layout.
  int64_t size() const { return size_; }
  const LayoutPtr& layout() const { return tensors_[0].layout(); }
  float* weights() const { return pointers_[0]; }
  float* const* slots() const { return pointers_.data() + 1; }
  const Tensor& gradient() const { return update_.gradient; }
  /// Gives the written memory back to the components, which share it again. A second call does
  /// nothing.
  void store();
  /// After store(): takes the variable and slots of the update again, as they may have been
  /// replaced.
  void take_again();

 private:
  /// holds nothing at first
  explicit UpdateTarget(const VariableUpdate& update) : update_(update) {}
  void take(const Variable& variable, const LayoutPtr& layout, Device device);

  const VariableUpdate& update_;
  int first_ = 0, count_ = 0;
  std::vector<Tensor> tensors_;
  std::vector<float*> pointers_;
  int64_t size_ = 0;
};

/// Applies an update with a sparse gradient to its target; each row is updated once.
void update_rows(const VariableUpdate& update, size_t index, const UpdateTarget& target,
                 const UpdateKernel& kernel);

/// A range of one target's elements.
struct UpdateSlice {
  size_t target;
  int64_t begin, count;
};

/// Cuts all elements of `targets` into slices of at most 16,384 elements, in order; lazy products
/// are cut at whole rows.
std::vector<UpdateSlice> slice_updates(std::span<const UpdateTarget> targets);

}  // namespace replica_internal

}  // namespace distribute
