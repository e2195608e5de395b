#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/detail/device_copies.hpp>
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/detail/tensor_places.hpp>
#include <distribute/strategy/devices.hpp>
#include <distribute/strategy/distributed_variable.hpp>
#include <distribute/strategy/strategy.hpp>

#include <algorithm>
#include <mutex>

namespace distribute {

namespace strategy_internal {

DISTRIBUTE_INLINE VariableOptions check_variable_options(VariableOptions options, DType dtype) {
  if (options.synchronization == VariableSynchronization::None)
    throw InvalidArgumentError(
        str_cat("`NONE` variable synchronization mode is not supported with "
                "this strategy; variable: '",
                options.name, "'"));
  if (options.synchronization > VariableSynchronization::OnRead)
    throw InvalidArgumentError(
        str_cat("Invalid variable synchronization mode for variable: '", options.name, "'"));
  if (options.aggregation > VariableAggregation::OnlyFirstReplica)
    throw InvalidArgumentError(
        str_cat("Invalid variable aggregation mode for variable: '", options.name, "'"));
  if (options.synchronization == VariableSynchronization::Auto)
    options.synchronization = VariableSynchronization::OnWrite;
  if (options.aggregation == VariableAggregation::Mean && !is_floating(dtype))
    throw InvalidArgumentError(str_cat("creating distributed variable '", options.name,
                                       "' with aggregation MEAN and the non-floating dtype ",
                                       name_of(dtype), " is not supported"));
  return options;
}

DISTRIBUTE_INLINE Access access_of(const Strategy* owner) {
  const auto& modes = replica_internal::mode_stack();
  if (modes.empty() || is_default_strategy(modes.back().strategy)) return {};
  const replica_internal::Mode& mode = modes.back();
  if (mode.strategy != owner) return {.foreign = true};
  if (mode.replica) return {mode.replica, mode.replica->local_replica_id()};
  return {nullptr, mode.update_replica};
}

/// Whether all replicas passed the same tensor, as a literal of the program.
DISTRIBUTE_INLINE bool is_one_tensor(const std::vector<Tensor>& values) {
  return values.size() > 1 && std::all_of(values.begin(), values.end(), [&](const Tensor& value) {
           return value.id() == values[0].id();
         });
}

DISTRIBUTE_INLINE bool is_zero(const Tensor& value) {
  const std::vector<float> elements = value.to_vector();
  return std::all_of(elements.begin(), elements.end(), [](float x) { return x == 0; });
}

DISTRIBUTE_INLINE void throw_foreign(const std::string& name) {
  throw FailedPreconditionError(
      str_cat("Mixing different tf.distribute.Strategy objects: variable '", name,
              "' was created under another strategy"));
}

[[noreturn]] DISTRIBUTE_INLINE void throw_same_on_all(const VariableOptions& options,
                                                      const char* what) {
  throw InvalidArgumentError(str_cat(
      "A non-DistributedValues value cannot be reduced with the given reduce op SUM: every replica "
      "assigned the same ",
      what, " to variable '", options.name, "'; assign a tensor that the step computes"));
}

DISTRIBUTE_INLINE void check_number(const VariableOptions& options, const Access& access,
                                    bool is_zero) {
  if (is_zero || !access.replica || access.replica->num_replicas_in_sync() == 1) return;
  if (options.aggregation == VariableAggregation::Sum) throw_same_on_all(options, "number");
}

DISTRIBUTE_INLINE Tensor
aggregate_values(const VariableOptions& options, std::vector<Tensor> values,
                 const std::function<Tensor(ReduceOp, std::vector<Tensor>)>& reduce) {
  if (options.aggregation == VariableAggregation::OnlyFirstReplica) return values[0];
  const ReduceOp op = reduce_op_from_aggregation(options.aggregation);
  if (!is_one_tensor(values)) return reduce(op, std::move(values));
  if (op == ReduceOp::Mean || is_zero(values[0])) return values[0];
  throw_same_on_all(options, "tensor");
}

}  // namespace strategy_internal

struct DistributedVariable::Components {
  Components(int count, const Tensor& value) : values(size_t(count), value) { describe(value); }
  void describe(const Tensor& first) {
    shape = first.shape();
    dtype = first.dtype();
    device = first.device();
  }

  std::mutex mutex;            // guards the elements, whose number stays, and the rest
  std::vector<Tensor> values;  // none while an update has taken it
  Shape shape;                 // these three of the first
  DType dtype;
  Device device;
};

DISTRIBUTE_INLINE DistributedVariable::~DistributedVariable() = default;

DISTRIBUTE_INLINE int DistributedVariable::num_components() const {
  return int(components_->values.size());
}

DISTRIBUTE_INLINE Tensor DistributedVariable::reduce_replicas(const char* what, ReduceOp op,
                                                              std::vector<Tensor> values) const {
  return others_ ? others_->reduce(op, std::move(values))
                 : strategy_internal::reduce_tensors(what, op, std::move(values));
}

DISTRIBUTE_INLINE int DistributedVariable::num_replicas() const {
  return others_ ? others_->num_replicas() : num_components();
}

DISTRIBUTE_INLINE DistributedVariable::DistributedVariable(const Tensor& initial_value,
                                                           VariableOptions options, Strategy& owner,
                                                           int num_components,
                                                           std::shared_ptr<OtherWorkers> others)
    : VariableImpl(std::move(options)),
      owner_(&owner),
      others_(std::move(others)),
      components_(new Components(num_components, initial_value.renamed())) {}

DISTRIBUTE_INLINE Shape DistributedVariable::shape() const {
  const std::lock_guard lock(components_->mutex);
  return components_->shape;
}

DISTRIBUTE_INLINE DType DistributedVariable::dtype() const {
  const std::lock_guard lock(components_->mutex);
  return components_->dtype;
}

DISTRIBUTE_INLINE std::string DistributedVariable::device_of(size_t copy, Device device) const {
  const bool named = copy < names_.size() && !is_gpu(device);
  const bool is_cpu = named && !is_gpu(strategy_internal::parse_device_name(names_[copy]).device);
  return is_cpu ? names_[copy] : device_internal::full_name(device);
}

DISTRIBUTE_INLINE std::string DistributedVariable::device() const {
  const int own = strategy_internal::access_of(owner_).component;
  if (own > 0 && own < num_components()) return devices()[size_t(own)];
  const std::lock_guard lock(components_->mutex);
  return device_of(0, components_->device);
}

DISTRIBUTE_INLINE size_t DistributedVariable::checked_index(int replica) const {
  if (num_components() == 1) return 0;
  if (replica >= 0 && replica < num_components()) return size_t(replica);
  throw FailedPreconditionError(
      str_cat("Mixing different tf.distribute.Strategy objects: variable '", options().name,
              "' has ", num_components(), " copies and none for replica ", replica,
              ": it was created under a strategy with fewer replicas"));
}

DISTRIBUTE_INLINE std::vector<std::string> DistributedVariable::devices() const {
  std::vector<std::string> names;
  for (const Tensor& copy : all_components())
    names.push_back(device_of(names.size(), copy ? copy.device() : Device{}));
  return names;
}

DISTRIBUTE_INLINE Tensor DistributedVariable::component(int replica) const {
  const std::lock_guard lock(components_->mutex);
  return components_->values[checked_index(replica)];
}

DISTRIBUTE_INLINE void DistributedVariable::set_component(int replica, Tensor value) {
  if (!homes_.empty() && value) value = value.to(homes_[checked_index(replica)]);
  const size_t index = checked_index(replica);
  const std::lock_guard lock(components_->mutex);
  if (index == 0 && value) components_->describe(value);
  std::swap(components_->values[index], value);
}

DISTRIBUTE_INLINE void DistributedVariable::place_on(std::vector<Device> devices) {
  std::vector<Tensor>& values = components_->values;
  if (values[0].shape().rank() == 0) return;
  homes_ = std::move(devices);
  for (size_t i = 0; i < values.size(); ++i) values[i] = values[i].to(homes_[i]).renamed();
  components_->describe(values[0]);
}

DISTRIBUTE_INLINE std::vector<Tensor> DistributedVariable::all_components() const {
  const std::lock_guard lock(components_->mutex);
  return components_->values;
}

DISTRIBUTE_INLINE Tensor DistributedVariable::read() const {
  const auto access = strategy_internal::access_of(owner_);
  if (access.foreign) return read_foreign(get_replica_context() != nullptr);
  return access.component < 0 ? read_cross_replica() : component(access.component);
}

DISTRIBUTE_INLINE Tensor DistributedVariable::read_foreign(bool) const {
  strategy_internal::throw_foreign(options().name);
}

DISTRIBUTE_INLINE Tensor DistributedVariable::read_in_own_strategy() const {
  if (strategy_internal::access_of(owner_).foreign)
    strategy_internal::throw_foreign(options().name);
  return read();
}

/// Checks a number: that of a worker's one replica is this worker's, and those of all workers are
/// added.
DISTRIBUTE_INLINE void DistributedVariable::check_number(bool is_zero) const {
  if (others_ && num_components() == 1) return;
  if (options().synchronization != VariableSynchronization::OnRead)
    strategy_internal::check_number(options(), strategy_internal::access_of(owner_), is_zero);
}

DISTRIBUTE_INLINE void DistributedVariable::write(Write write, const Tensor& value) {
  const auto access = strategy_internal::access_of(owner_);
  if (access.foreign) strategy_internal::throw_foreign(options().name);
  if (access.replica) return write_in_replica(write, *access.replica, value);
  if (access.component >= 0) return write_component(write, access.component, value);
  write_cross_replica(write, value);
}

DISTRIBUTE_INLINE void DistributedVariable::scatter(ScatterOp op, const IndexedSlices& slices) {
  check_scatter(op);
  write(write_of(op), to_tensor({slices.values, slices.indices, shape()}));
}

DISTRIBUTE_INLINE void DistributedVariable::refuse_scatter(ScatterOp op) const {
  constexpr const char* kAggregations[] = {"NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA"};
  throw UnimplementedError(
      str_cat(name_of(op),
              " is only supported for mirrored variable (variable created within "
              "certain `tf.distribute.Strategy` scope) with NONE or `ONLY_FIRST_REPLICA` "
              "aggregation, got: ",
              kAggregations[size_t(options().aggregation)], "; variable '", options().name, "'"));
}

DISTRIBUTE_INLINE void MirroredVariable::check_scatter(ScatterOp op) const {
  const VariableAggregation aggregation = options().aggregation;
  if (op >= ScatterOp::Min &&
      (aggregation == VariableAggregation::Sum || aggregation == VariableAggregation::Mean))
    refuse_scatter(op);
}

DISTRIBUTE_INLINE void SyncOnReadVariable::check_scatter(ScatterOp op) const {
  throw UnimplementedError(str_cat(name_of(op), ": variable '", options().name,
                                   "' is synchronized on read; only mirrored variables have it"));
}

DISTRIBUTE_INLINE Tensor DistributedVariable::written(Write write, const Tensor& old,
                                                      const Tensor& value) {
  if (write == Write::Assign) return value.renamed();
  if (write >= Write::Scatter)
    return autograd_internal::scattered(ScatterOp(int(write) - int(Write::Scatter)), old,
                                        indexed_slices(value));
  return combine(old, value, write == Write::Add ? 1.0f : -1.0f);
}

DISTRIBUTE_INLINE void DistributedVariable::write_component(Write write, int replica,
                                                            const Tensor& value) {
  set_component(replica, written(write, component(replica), brought_home(value)));
}

DISTRIBUTE_INLINE void DistributedVariable::write_all(Write write, const Tensor& value) {
  std::vector<Tensor> copies = all_components();
  const Tensor home = brought_home(value);
  std::vector<Tensor> changed;
  for (size_t i = 0; i < copies.size(); ++i) {
    const bool same =
        i > 0 && ((write == Write::Assign && homes_.empty()) || copies[i].id() == copies[0].id());
    changed.push_back(same ? changed[0] : written(write, copies[i], home));
  }
  for (size_t i = 0; i < changed.size(); ++i) set_component(int(i), std::move(changed[i]));
}

DISTRIBUTE_INLINE void DistributedVariable::write_aggregated(Write write, ReplicaContext& replica,
                                                             const Tensor& value) {
  replica.merge(value, [&](replica_internal::Meeting<const Tensor> all) {
    std::vector<Tensor> values;
    all.for_each([&](const Tensor& one) { values.push_back(one); });
    write_all(write, strategy_internal::aggregate_values(
                         options(), std::move(values), [&](ReduceOp op, auto differing) {
                           for (Tensor& one : differing) one = brought_home(one);
                           return reduce_replicas("assign", op, std::move(differing));
                         }));
  });
}

DISTRIBUTE_INLINE void MirroredVariable::write_in_replica(Write write, ReplicaContext& replica,
                                                          const Tensor& value) {
  if (options().aggregation == VariableAggregation::None)
    return write_component(write, replica.local_replica_id(), value);
  write_aggregated(write, replica, value);
}

/// Across replicas all copies are taken for equal, as TensorFlow does where it allows this reading.
DISTRIBUTE_INLINE Tensor MirroredVariable::read_foreign(bool in_replica) const {
  if (in_replica) strategy_internal::throw_foreign(options().name);
  return component(0);
}

DISTRIBUTE_INLINE Tensor SyncOnReadVariable::read_cross_replica() const {
  const VariableAggregation aggregation = options().aggregation;
  if (aggregation == VariableAggregation::OnlyFirstReplica) return component(0);
  return reduce_replicas("read_value", reduce_op_from_aggregation(aggregation), all_components());
}

DISTRIBUTE_INLINE void SyncOnReadVariable::accumulate(const Tensor& delta) {
  const bool across = strategy_internal::access_of(owner()).component < 0;
  if (!across || options().aggregation != VariableAggregation::Sum) return assign_add(delta);
  assign(combine(read(), delta, 1.0f));
}

DISTRIBUTE_INLINE void SyncOnReadVariable::write_cross_replica(Write write, const Tensor& value) {
  if (options().aggregation == VariableAggregation::None)  // throws
    reduce_op_from_aggregation(options().aggregation);
  if (options().aggregation != VariableAggregation::Sum) return write_all(write, value);
  if (write != Write::Assign)
    throw InvalidArgumentError(str_cat(
        "SyncOnReadVariable does not support `", write == Write::Add ? "assign_add" : "assign_sub",
        "` in cross-replica context when aggregation is set to `VariableAggregation.SUM`; "
        "variable '",
        options().name, "'"));
  write_all(write, cast(strategy_internal::divided(value, num_replicas()), value.dtype()));
}

DISTRIBUTE_INLINE void SyncOnReadVariable::write_in_replica(Write write, ReplicaContext& replica,
                                                            const Tensor& value) {
  write_component(write, replica.local_replica_id(), value);
}

DISTRIBUTE_INLINE AggregatingVariable::AggregatingVariable(const Tensor& initial_value,
                                                           VariableOptions options, Strategy& owner,
                                                           Device home,
                                                           std::shared_ptr<StagingMemory> staging)
    : DistributedVariable(initial_value, std::move(options), owner, 1),
      home_(home),
      copies_(staging ? new strategy_internal::DeviceCopies(std::move(staging)) : nullptr) {
  if (copies_) place_on({home_});
}
DISTRIBUTE_INLINE AggregatingVariable::~AggregatingVariable() = default;

DISTRIBUTE_INLINE Tensor AggregatingVariable::read() const {
  return strategy_internal::read_here(copies_.get(), DistributedVariable::read());
}

DISTRIBUTE_INLINE bool AggregatingVariable::reads_rows() const {
  return copies_ && home_.type == DeviceType::Cpu && shape().rank() > 0 && get_replica_context() &&
         current_device().type == DeviceType::Gpu;
}

DISTRIBUTE_INLINE Tensor AggregatingVariable::read_rows(const Tensor& flat) const {
  const Tensor host_flat = strategy_internal::on_host(flat);
  const Tensor rows = [&] {
    const DeviceScope host(Device{});
    return gather(component(0), host_flat);
  }();
  return copies_->send(current_device(), rows);
}

DISTRIBUTE_INLINE Tensor AggregatingVariable::brought_home(const Tensor& value) const {
  return copies_ && home_.type == DeviceType::Cpu ? strategy_internal::on_host(value) : value;
}

DISTRIBUTE_INLINE void AggregatingVariable::write_in_replica(Write write, ReplicaContext& replica,
                                                             const Tensor& value) {
  if (options().aggregation == VariableAggregation::None)
    throw InvalidArgumentError(
        str_cat("You must specify an aggregation method to update variable '", options().name,
                "' in replica context"));
  write_aggregated(write, replica, value);
}

}  // namespace distribute
