#pragma once
/// A strategy's variables: their copies, and how each kind reads and writes them.

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

/// What a variable needs of the other workers; may outlive the strategy. Every worker makes the
/// same calls.
class OtherWorkers {
 public:
  virtual ~OtherWorkers() = default;
  /// Reduces over all replicas, from the values of this worker's replicas.
  virtual Tensor reduce(ReduceOp op, std::vector<Tensor> values) = 0;
  virtual int num_replicas() const = 0;
};

/// Base of a strategy's variables. Copies that are equal share one tensor, which is never written
/// in place while it is shared. Thread-safe: replicas may read and write their own
/// copies at the same time.
/// Source  tf.distribute.DistributedValues (DistributedVariable)
class DistributedVariable : public VariableImpl {
 public:
  DistributedVariable(const Tensor& initial_value, VariableOptions options, Strategy& owner,
                      int num_components, std::shared_ptr<OtherWorkers> others = nullptr);
  DISTRIBUTE_INLINE ~DistributedVariable() override;

  /// The strategy in whose scope it was created; compare only, it may be gone.
  const Strategy* owner() const { return owner_; }

  /// In a replica its own copy; inside extended.update the copy being updated; elsewhere the value
  /// across replicas. Inside another strategy it does what read_foreign() does.
  DISTRIBUTE_INLINE Tensor read() const override;
  DISTRIBUTE_INLINE Tensor read_in_own_strategy() const override;
  DISTRIBUTE_INLINE void check_number(bool is_zero) const override;
  void assign(const Tensor& value) override { write(Write::Assign, value); }
  void assign_add(const Tensor& delta) override { write(Write::Add, delta); }
  void assign_sub(const Tensor& delta) override { write(Write::Subtract, delta); }
  /// Slices of several replicas are aggregated as assigned values are: joined, and for Mean
  /// divided.
  DISTRIBUTE_INLINE void scatter(ScatterOp op, const IndexedSlices& slices) override;

  DISTRIBUTE_INLINE int num_components() const override;
  /// Also while an update has taken the first copy; they hold none, so a replica that asks does not
  /// keep another from writing in place.
  DISTRIBUTE_INLINE Shape shape() const override;
  DISTRIBUTE_INLINE DType dtype() const override;
  /// Inside of a replica it is the device of its own copy, elsewhere that of the first copy.
  DISTRIBUTE_INLINE std::string device() const override;
  DISTRIBUTE_INLINE std::vector<std::string> devices() const override;
  /// Throws  FailedPreconditionError for a replica of a strategy with more of them.
  DISTRIBUTE_INLINE Tensor component(int replica) const override;
  DISTRIBUTE_INLINE void set_component(int replica, Tensor value) override;
  /// Gives each copy memory on its own device, where later values follow. Single numbers stay on
  /// the host, which reads them more often than GPUs do. Call before the first read.
  void place_on(std::vector<Device> devices);
  /// What devices() says of copies in the host's memory, which logical CPUs share: the name of each
  /// copy's CPU. Names of GPUs say nothing. Call before the first read.
  void name_cpus(std::vector<std::string> names) { names_ = std::move(names); }

 protected:
  /// Assign, Add, Subtract, or from Scatter on a ScatterOp whose slices come as a sparse tensor.
  enum class Write { Assign, Add, Subtract, Scatter };
  static Write write_of(ScatterOp op) { return Write(int(Write::Scatter) + int(op)); }

  virtual Tensor read_cross_replica() const = 0;
  /// The value inside another strategy; `in_replica` says whether in a replica of it.
  /// Throws  FailedPreconditionError where the copies may differ.
  DISTRIBUTE_INLINE virtual Tensor read_foreign(bool in_replica) const;
  virtual void write_cross_replica(Write write, const Tensor& value) = 0;
  virtual void write_in_replica(Write write, ReplicaContext& replica, const Tensor& value) = 0;
  /// `value` where it is put together with the variable's.
  virtual Tensor brought_home(const Tensor& value) const { return value; }
  /// Throws  UnimplementedError where the kind or the aggregation does not allow the operation.
  virtual void check_scatter(ScatterOp op) const { (void)op; }
  [[noreturn]] void refuse_scatter(ScatterOp op) const;

  std::vector<Tensor> all_components() const;
  /// Reduces over all replicas of all workers, from the values of this worker's replicas.
  Tensor reduce_replicas(const char* what, ReduceOp op, std::vector<Tensor> values) const;
  int num_replicas() const;
  void write_component(Write write, int replica, const Tensor& value);
  /// The same to every copy; computed once while they are equal.
  void write_all(Write write, const Tensor& value);
  /// In a replica: one value out of all replicas' by `aggregation`, then the same to every copy.
  void write_aggregated(Write write, ReplicaContext& replica, const Tensor& value);

 private:
  void write(Write write, const Tensor& value);
  size_t checked_index(int replica) const;
  std::string device_of(size_t copy, Device device) const;
  /// A copy's new value; reads nothing but its arguments.
  static Tensor written(Write write, const Tensor& old, const Tensor& value);

  Strategy* owner_;
  const std::shared_ptr<OtherWorkers> others_;  // null: this process is the only worker
  struct Components;
  const Pimpl<Components> components_;
  std::vector<Device> homes_;       // of the components; empty: wherever the values are
  std::vector<std::string> names_;  // of their devices, where they are CPUs
};

/// A value per replica, equal after every write. Source  MirroredVariable
class MirroredVariable final : public DistributedVariable {
 public:
  using DistributedVariable::DistributedVariable;

 protected:
  Tensor read_cross_replica() const override { return component(0); }
  DISTRIBUTE_INLINE Tensor read_foreign(bool in_replica) const override;
  void write_cross_replica(Write write, const Tensor& value) override { write_all(write, value); }
  DISTRIBUTE_INLINE void check_scatter(ScatterOp op) const override;
  /// Aggregation None writes the own copy alone, and the copies may then differ.
  DISTRIBUTE_INLINE void write_in_replica(Write write, ReplicaContext& replica,
                                          const Tensor& value) override;
};

/// Each replica has its own value; reading across replicas aggregates. Source  SyncOnReadVariable
class SyncOnReadVariable final : public DistributedVariable {
 public:
  using DistributedVariable::DistributedVariable;
  /// In a replica its own value grows; across replicas their sum, divided among them.
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

/// One copy on the parameter device that all replicas read and update together; on other devices
/// they read copies of it.
/// Source  AggregatingVariable
class AggregatingVariable final : public DistributedVariable {
 public:
  /// `home`: the parameter device. `staging`: of the replicas' devices, null where none is a GPU.
  AggregatingVariable(const Tensor& initial_value, VariableOptions options, Strategy& owner,
                      Device home = {}, std::shared_ptr<StagingMemory> staging = nullptr);
  DISTRIBUTE_INLINE ~AggregatingVariable() override;

  DISTRIBUTE_INLINE Tensor read() const override;
  Tensor read_in_own_strategy() const override { return read(); }  // there is one copy alone
  /// On a GPU rows of the host's copy: the other rows need not travel.
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

/// What the calling thread may do with a variable of `owner`: a replica of it, its copy of an
/// extended.update, or the whole.
struct Access {
  ReplicaContext* replica = nullptr;
  int component = -1;    // -1: all of them
  bool foreign = false;  // inside another strategy
};
Access access_of(const Strategy* owner);
/// Throws  InvalidArgumentError when the calling thread is one of several replicas, whose number
///         would be summed.
void check_number(const VariableOptions& options, const Access& access, bool is_zero);
/// What writes to foreign variables throw, and some reads.
[[noreturn]] void throw_foreign(const std::string& name);

/// One value out of those that all replicas assign, by the variable's aggregation; `reduce` is for
/// values that differ.
/// Throws  InvalidArgumentError for the sum of one tensor that all of them pass.
Tensor aggregate_values(const VariableOptions& options, std::vector<Tensor> values,
                        const std::function<Tensor(ReduceOp, std::vector<Tensor>)>& reduce);

/// Fills in Auto and checks synchronization and aggregation of a variable about to be made.
/// Throws  InvalidArgumentError for None synchronization, and Mean of a dtype that is not floating.
VariableOptions check_variable_options(VariableOptions options, DType dtype);

}  // namespace strategy_internal

}  // namespace distribute
