#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/parameter_server/detail/client.hpp>
#include <distribute/strategy/detail/device_copies.hpp>
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/detail/remote_variable.hpp>
#include <distribute/strategy/detail/tensor_collectives.hpp>
#include <distribute/strategy/distributed_variable.hpp>
#include <distribute/strategy/strategy.hpp>

#include <unordered_map>
#include <utility>

namespace distribute {

namespace strategy_internal {

DISTRIBUTE_INLINE std::unique_ptr<std::unordered_map<uint64_t, Tensor>>& cached_reads() {
  return base_internal::in_thread_context<base_internal::ContextPlace{7, 0},
                                          std::unique_ptr<std::unordered_map<uint64_t, Tensor>>>();
}

DISTRIBUTE_INLINE int64_t remote_id(const Variable& variable, const ServerAccess& link) {
  const auto* remote = dynamic_cast<const RemoteVariable*>(&variable.impl());
  if (remote && remote->link() == &link) return remote->remote_id();
  throw InvalidArgumentError(str_cat("Trying to update variable '", variable.name(),
                                     "' under the scope of this strategy, but it was created "
                                     "elsewhere: create model and optimizer inside "
                                     "strategy.scope()"));
}

}  // namespace strategy_internal

DISTRIBUTE_INLINE RemoteVariable::RemoteVariable(
    parameter_server::VariableSpec spec, parameter_server::InitialValue initial_value,
    VariableOptions options, Strategy& owner, std::shared_ptr<strategy_internal::ServerAccess> link)
    : VariableImpl(std::move(options)),
      spec_(std::move(spec)),
      owner_(&owner),
      link_(std::move(link)),
      copies_(link_->staging() ? std::make_unique<strategy_internal::DeviceCopies>(link_->staging())
                               : nullptr),
      initial_value_(std::move(initial_value)) {
  if (link_->may_create()) remote_id();  // now: the initial value may refer to what dies soon
}

DISTRIBUTE_INLINE RemoteVariable::~RemoteVariable() = default;

DISTRIBUTE_INLINE int64_t RemoteVariable::remote_id() const {
  const std::lock_guard lock(mutex_);
  if (!id_) id_ = link_->find(spec_, *initial_value_);
  initial_value_.reset();
  return *id_;
}

DISTRIBUTE_INLINE Tensor RemoteVariable::read() const {
  return strategy_internal::read_here(copies_.get(), read_host());
}

DISTRIBUTE_INLINE Tensor& RemoteVariable::value_of_server() const {
  const std::lock_guard lock(mutex_);
  if (value_of_server_) return value_of_server_;
  const parameter_server::InitialValue& first = *initial_value_;
  if (first.number())
    value_of_server_ = fill(spec_.shape, *first.number(), spec_.dtype);
  else
    value_of_server_ = first.by_rows() ? first.by_rows()(0, spec_.shape[0]) : first.whole()();
  return value_of_server_;
}

DISTRIBUTE_INLINE Tensor RemoteVariable::read_host() const {
  if (!link_->has_client()) return value_of_server();
  const auto& reads = strategy_internal::cached_reads();
  if (!reads) return link_->read(remote_id());
  Tensor& known = (*reads)[id()];
  if (!known) known = link_->read(remote_id());
  return known;
}

DISTRIBUTE_INLINE Tensor RemoteVariable::read_rows(const Tensor& flat) const {
  if (flat.num_elements() == 0) return zeros(spec_.shape.with(0, 0), spec_.dtype);
  const Tensor host_flat = strategy_internal::on_host(flat);
  const bool is_local = !link_->has_client() || link_->is_apart();
  const Tensor whole = is_local ? read_host() : link_->value_if_read(remote_id());
  const Tensor rows =
      whole ? gather(whole, host_flat) : link_->client().gather_rows(remote_id(), host_flat);
  const bool is_here = !copies_ || !get_replica_context();
  return is_here ? rows : copies_->send(current_device(), rows);
}

DISTRIBUTE_INLINE void RemoteVariable::send(Write kind, const Tensor& value) {
  const DeviceScope host(Device{});
  const Tensor here = strategy_internal::on_host(value);
  if (!link_->has_client()) {
    Tensor& own = value_of_server();
    own = kind == Write::Assign ? here : combine(own, here, kind == Write::Add ? 1.0f : -1.0f);
    return;
  }
  if (kind == Write::Assign) return link_->assign(remote_id(), here.row_major());
  const Tensor delta =
      kind == Write::Add ? here : combine(zeros(spec_.shape, spec_.dtype), here, -1.0f);
  link_->assign_add(remote_id(), delta.row_major());
}

DISTRIBUTE_INLINE void RemoteVariable::write(Write kind, const Tensor& value) {
  const auto access = strategy_internal::access_of(owner_);
  if (access.foreign) strategy_internal::throw_foreign(options().name);
  if (!access.replica || access.replica->num_replicas_in_sync() == 1) return send(kind, value);
  if (options().aggregation == VariableAggregation::None)
    throw InvalidArgumentError(
        str_cat("You must specify an aggregation method to update variable '", options().name,
                "' in replica context"));
  access.replica->merge(value, [&](replica_internal::Meeting<const Tensor> all) {
    std::vector<Tensor> values;
    all.for_each([&](const Tensor& one) { values.push_back(one); });
    send(kind, strategy_internal::aggregate_values(
                   options(), std::move(values), [](ReduceOp op, std::vector<Tensor> differing) {
                     for (Tensor& one : differing) one = strategy_internal::on_host(one);
                     return strategy_internal::reduce_tensors("assign", op, std::move(differing));
                   }));
  });
}

DISTRIBUTE_INLINE void RemoteVariable::check_number(bool is_zero) const {
  strategy_internal::check_number(options(), strategy_internal::access_of(owner_), is_zero);
}

DISTRIBUTE_INLINE void RemoteVariable::scatter(ScatterOp op, const IndexedSlices& slices) {
  if (op != ScatterOp::Sub && op != ScatterOp::Add) return VariableImpl::scatter(op, slices);
  write(op == ScatterOp::Add ? Write::Add : Write::Subtract,
        to_tensor({slices.values, slices.indices, spec_.shape}));
}

DISTRIBUTE_INLINE void RemoteVariable::set_component(int, Tensor value) {
  if (!value)
    throw FailedPreconditionError(
        str_cat("variable '", options().name,
                "' is on a parameter server: apply_gradients belongs into "
                "strategy.run or a function of the coordinator"));
  send(Write::Assign, value);
}

DISTRIBUTE_INLINE std::string RemoteVariable::device() const {
  return str_cat("/job:ps/replica:0/task:", link_->client().server_of(remote_id()),
                 "/device:CPU:0");
}

}  // namespace distribute
