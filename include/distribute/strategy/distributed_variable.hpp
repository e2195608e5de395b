#pragma once
/// Variables of strategies: their copies, and how each kind reads and writes them.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/replica/values.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace distribute {

class ReplicaContext;
class StagingMemory;
class Strategy;

namespace strategy_internal {
class DeviceCopies;
}

/// Operations of a variable with the other workers; it may outlive the strategy. Every worker makes
/// the same calls.
class OtherWorkers {
 public:
  virtual ~OtherWorkers() = default;
  /// Reduces over all replicas, from the values of this worker's replicas.
  virtual Tensor reduce(ReduceOp op, std::vector<Tensor> values) = 0;
  virtual int num_replicas() const = 0;
};

/// Is the base of a strategy's variables. Thread-safe: replicas may read and write their own copies
/// at the same time.
/// 1. Copies that are equal share one tensor.
/// 2. A tensor that is shared is never written in place.
/// Source  tf.distribute.DistributedValues (DistributedVariable)
class DistributedVariable : public VariableImpl {
 public:
  DistributedVariable(const Tensor& initial_value, VariableOptions options, Strategy& owner,
                      int num_components, std::shared_ptr<OtherWorkers> others = nullptr);
  DISTRIBUTE_INLINE ~DistributedVariable() override;

  /// Returns the strategy in whose scope it was created, only for comparison, as it may be
  /// destroyed.
  const Strategy* owner() const { return owner_; }

  /// Returns in a replica its own copy, inside extended.update the copy being updated, elsewhere
  /// the value across replicas. Inside another strategy it returns read_foreign().
  DISTRIBUTE_INLINE Tensor read() const override;
  DISTRIBUTE_INLINE Tensor read_in_own_strategy() const override;
  DISTRIBUTE_INLINE void check_number(bool is_zero) const override;
  void assign(const Tensor& value) override { write(Write::Assign, value); }
  void assign_add(const Tensor& delta) override { write(Write::Add, delta); }
  void assign_sub(const Tensor& delta) override { write(Write::Subtract, delta); }
  /// Aggregates slices of several replicas as assigned values: they are joined, and divided for
  /// Mean.
  DISTRIBUTE_INLINE void scatter(ScatterOp op, const IndexedSlices& slices) override;

  DISTRIBUTE_INLINE int num_components() const override;
  /// Shape and dtype are known also while an update has taken the first copy, and are read without
  /// holding a copy, which would keep another replica from writing in place.
  DISTRIBUTE_INLINE Shape shape() const override;
  DISTRIBUTE_INLINE DType dtype() const override;
  /// Returns inside of a replica the device of its own copy, elsewhere that of the first copy.
  DISTRIBUTE_INLINE std::string device() const override;
  DISTRIBUTE_INLINE std::vector<std::string> devices() const override;
  /// Throws  FailedPreconditionError for a replica of a strategy with more replicas.
  DISTRIBUTE_INLINE Tensor component(int replica) const override;
  DISTRIBUTE_INLINE void set_component(int replica, Tensor value) override;
  /// Gives each copy memory on its own device, also for later values. Single numbers stay on the
  /// host, which reads them more often than GPUs do. Call it before the first read.
  void place_on(std::vector<Device> devices);
  /// Sets the names that devices() returns for copies in the host's memory, which logical CPUs
  /// share: the name of each copy's CPU. Names of GPUs have no effect. Call it before the first
  /// read.
  void name_cpus(std::vector<std::string> names) { names_ = std::move(names); }

 protected:
  /// Assign, Add, Subtract; numbers from Scatter on stand for a ScatterOp whose slices are passed
  /// as a sparse tensor.
  enum class Write { Assign, Add, Subtract, Scatter };
  static Write write_of(ScatterOp op) { return Write(int(Write::Scatter) + int(op)); }

  virtual Tensor read_cross_replica() const = 0;
  /// Returns the value for code in the scope of another strategy; `in_replica` tells whether a
  /// replica of that strategy runs the code.
  /// Throws  FailedPreconditionError if the copies may differ.
  DISTRIBUTE_INLINE virtual Tensor read_foreign(bool in_replica) const;
  virtual void write_cross_replica(Write write, const Tensor& value) = 0;
  virtual void write_in_replica(Write write, ReplicaContext& replica, const Tensor& value) = 0;
  /// Returns `value` on the device on which it is combined with the variable's.
  virtual Tensor brought_home(const Tensor& value) const { return value; }
  /// Throws  UnimplementedError where the kind or the aggregation does not allow the operation.
  virtual void check_scatter(ScatterOp op) const { (void)op; }
  [[noreturn]] void refuse_scatter(ScatterOp op) const;

  std::vector<Tensor> all_components() const;
  /// Reduces over all replicas of all workers, from the values of this worker's replicas.
  Tensor reduce_replicas(const char* what, ReduceOp op, std::vector<Tensor> values) const;
  int num_replicas() const;
  void write_component(Write write, int replica, const Tensor& value);
  /// Applies the same write to every copy; it is computed once while they are equal.
  void write_all(Write write, const Tensor& value);
  /// Aggregates the values that all replicas write into one, then applies it to every copy.
  /// Replicas call it.
  void write_aggregated(Write write, ReplicaContext& replica, const Tensor& value);

 private:
  void write(Write write, const Tensor& value);
  size_t checked_index(int replica) const;
  std::string device_of(size_t copy, Device device) const;
  /// Returns a copy's new value; it reads nothing but its arguments.
  static Tensor written(Write write, const Tensor& old, const Tensor& value);

  Strategy* owner_;
  const std::shared_ptr<OtherWorkers> others_;  // null: this process is the only worker
  struct Components;
  const Pimpl<Components> components_;
  std::vector<Device> homes_;       // of the components; empty: values stay on any device
  std::vector<std::string> names_;  // names of the components' devices if they are CPUs
};

/// Has a value per replica, all equal after every write. Source  MirroredVariable
class MirroredVariable final : public DistributedVariable {
 public:
  using DistributedVariable::DistributedVariable;

 protected:
  Tensor read_cross_replica() const override { return component(0); }
  DISTRIBUTE_INLINE Tensor read_foreign(bool in_replica) const override;
  void write_cross_replica(Write write, const Tensor& value) override { write_all(write, value); }
  DISTRIBUTE_INLINE void check_scatter(ScatterOp op) const override;
  /// With aggregation None it writes only the replica's own copy, and the copies may then differ.
  DISTRIBUTE_INLINE void write_in_replica(Write write, ReplicaContext& replica,
                                          const Tensor& value) override;
};

/// Each replica has its own value; reading across replicas aggregates. Source  SyncOnReadVariable
class SyncOnReadVariable final : public DistributedVariable {
 public:
  using DistributedVariable::DistributedVariable;
  /// Adds to the replica's own value; across replicas to their sum, divided among them.
  DISTRIBUTE_INLINE void accumulate(const Tensor& delta) override;

 protected:
  /// Throws  InvalidArgumentError for aggregation None.
  DISTRIBUTE_INLINE Tensor read_cross_replica() const override;
  /// Throws  InvalidArgumentError for aggregation None, and for assign_add and assign_sub with
  ///         aggregation Sum.
  DISTRIBUTE_INLINE void write_cross_replica(Write write, const Tensor& value) override;
  DISTRIBUTE_INLINE void write_in_replica(Write write, ReplicaContext& replica,
                                          const Tensor& value) override;
  DISTRIBUTE_INLINE void check_scatter(ScatterOp op) const override;
};

/// Has one copy on the parameter device that all replicas read and update together; on other
/// devices they read copies of it.
/// Source  AggregatingVariable
class AggregatingVariable final : public DistributedVariable {
 public:
  /// `home` is the parameter device. `staging` serves the replicas' devices; it is null if none is
  /// a GPU.
  AggregatingVariable(const Tensor& initial_value, VariableOptions options, Strategy& owner,
                      Device home = {}, std::shared_ptr<StagingMemory> staging = nullptr);
  DISTRIBUTE_INLINE ~AggregatingVariable() override;

  DISTRIBUTE_INLINE Tensor read() const override;
  Tensor read_in_own_strategy() const override { return read(); }  // there is only one copy
  /// Replicas on GPUs read rows of the host's copy, so that the other rows need not be copied.
  DISTRIBUTE_INLINE bool reads_rows() const override;
  DISTRIBUTE_INLINE Tensor read_rows(const Tensor& flat) const override;

 protected:
  DISTRIBUTE_INLINE Tensor brought_home(const Tensor& value) const override;
  Tensor read_cross_replica() const override { return component(0); }
  Tensor read_foreign(bool) const override { return component(0); }
  void write_cross_replica(Write write, const Tensor& value) override { write_all(write, value); }
  /// Throws  InvalidArgumentError for aggregation None.
  DISTRIBUTE_INLINE void write_in_replica(Write write, ReplicaContext& replica,
                                          const Tensor& value) override;

 private:
  const Device home_;
  const Pimpl<strategy_internal::DeviceCopies> copies_;  // null: no device is a GPU
};

namespace strategy_internal {

/// A slot of an optimizer of which replicas have no copies.
class StrategySlot : public VariableImpl {
 public:
  using VariableImpl::VariableImpl;
  /// Returns the strategy in whose scope it was made, only for comparison.
  virtual const Strategy* owner() const = 0;
};

/// How the calling thread may access a variable of `owner`: as one of its replicas, as an update of
/// one copy in extended.update, or as a whole.
struct Access {
  ReplicaContext* replica = nullptr;
  int component = -1;    // -1: all of them
  bool foreign = false;  // inside another strategy
};
Access access_of(const Strategy* owner);
/// Throws  InvalidArgumentError when the calling thread is one of several replicas, whose number
///         would be summed.
void check_number(const VariableOptions& options, const Access& access, bool is_zero);
/// Throws the error of writes, and of some reads, of another strategy's variable.
[[noreturn]] void throw_foreign(const std::string& name);

/// Combines the values that all replicas assign into one, by the variable's aggregation; `reduce`
/// combines values that differ.
/// Throws  InvalidArgumentError for the sum of one tensor that all of them pass.
Tensor aggregate_values(const VariableOptions& options, std::vector<Tensor> values,
                        const std::function<Tensor(ReduceOp, std::vector<Tensor>)>& reduce);

/// Fills in Auto and checks synchronization and aggregation of a variable about to be made.
/// Throws  InvalidArgumentError for None synchronization, and Mean of a dtype that is not floating.
VariableOptions check_variable_options(VariableOptions options, DType dtype);

}  // namespace strategy_internal

}  // namespace distribute
