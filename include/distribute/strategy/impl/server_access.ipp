#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/parameter_server/detail/client.hpp>
#include <distribute/replica/detail/sum_rows.hpp>
#include <distribute/rpc/job_task.hpp>
#include <distribute/strategy/detail/remote_variable.hpp>
#include <distribute/strategy/detail/server_access.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE int& creations_of_thread() {
  return base_internal::in_thread_context<base_internal::ContextPlace{7, 1, true}, int>();
}

DISTRIBUTE_INLINE ServerAccess::Creation::Creation() { ++creations_of_thread(); }
DISTRIBUTE_INLINE ServerAccess::Creation::~Creation() { --creations_of_thread(); }

DISTRIBUTE_INLINE ServerAccess::ServerAccess(std::shared_ptr<parameter_server::Client> client,
                                             bool creates, double timeout_seconds,
                                             const PushOptions& options,
                                             std::shared_ptr<StagingMemory> staging)
    : client_(std::move(client)),
      creates_(creates),
      timeout_seconds_(timeout_seconds),
      options_(options),
      staging_(std::move(staging)) {}

DISTRIBUTE_INLINE parameter_server::Client& ServerAccess::client() const {
  if (client_) return *client_;
  throw FailedPreconditionError(
      "this process is a parameter server: it keeps variables for others and reads none; call "
      "Server(strategy).join() before the first step");
}

DISTRIBUTE_INLINE bool ServerAccess::may_create() const { return creates_ || in_closure(); }
DISTRIBUTE_INLINE bool ServerAccess::in_closure() { return creations_of_thread() > 0; }

DISTRIBUTE_INLINE int64_t ServerAccess::find_created(const parameter_server::VariableSpec& spec) {
  try {
    return client().attach(spec, net::Deadline::after_seconds(timeout_seconds_));
  } catch (const DeadlineExceededError&) {
    throw DeadlineExceededError(str_cat(
        client().task()->self().name(), " has waited ", timeout_seconds_, " s for variable '",
        spec.key, "' ", to_string(spec.shape), ' ', name_of(spec.dtype),
        ", which no other task has created: the chief makes the variables. Does it build the "
        "same model, and does it run?"));
  }
}

DISTRIBUTE_INLINE int64_t
ServerAccess::find_or_create(const parameter_server::VariableSpec& spec,
                             const parameter_server::InitialValue& initial_value) {
  if (!may_create()) return find_created(spec);
  if (!client().exists(spec.key)) has_created_ = true;
  return client().create(spec, initial_value, parameter_server::Existing::Keep);
}

/// All variables of whole numbers may be counters, as it is not known when weights are read which
/// one a push will name.
DISTRIBUTE_INLINE int64_t ServerAccess::find(const parameter_server::VariableSpec& spec,
                                             const parameter_server::InitialValue& initial_value) {
  const int64_t variable = find_or_create(spec, initial_value);
  const bool may_count = spec.dtype == DType::Int64 && spec.shape.rank() == 0;
  if (options_.max_staleness >= 0 && may_count) {
    const std::lock_guard lock(mutex_);
    counters_.insert(variable);
  }
  return variable;
}

DISTRIBUTE_INLINE ServerAccess::Step::Step(ServerAccess& link) : link_(link) {
  const std::lock_guard lock(link_.mutex_);
  ++link_.steps_;
}

DISTRIBUTE_INLINE ServerAccess::Step::~Step() {
  const std::lock_guard lock(link_.mutex_);
  if (--link_.steps_ > 0) return;
  if (!link_.touched_.empty()) link_.expected_.assign(link_.touched_.begin(), link_.touched_.end());
  link_.touched_.clear();
  link_.values_.clear();
}

DISTRIBUTE_INLINE ServerAccess::Function::Function(ServerAccess& link,
                                                   const parameter_server::UpdateOrigin& origin)
    : link_(link) {
  const std::lock_guard lock(link_.mutex_);
  link_.origin_ = origin;
}

DISTRIBUTE_INLINE ServerAccess::Function::~Function() {
  const std::lock_guard lock(link_.mutex_);
  link_.origin_ = {};
}

DISTRIBUTE_INLINE ServerAccess::Apart::Apart(std::shared_ptr<ServerAccess> link)
    : link_(std::move(link)) {
  const std::lock_guard lock(link_->mutex_);
  if (link_->apart_)
    throw FailedPreconditionError("this process has values of its own already: an evaluation runs");
  link_->apart_.emplace();
}

DISTRIBUTE_INLINE ServerAccess::Apart::~Apart() {
  const std::lock_guard lock(link_->mutex_);
  link_->apart_.reset();
}

DISTRIBUTE_INLINE bool ServerAccess::is_apart() const {
  const std::lock_guard lock(mutex_);
  return apart_.has_value();
}

/// Returns this process's own value, at first from the server; null if it has none. mutex_ must be
/// held.
DISTRIBUTE_INLINE Tensor* ServerAccess::value_apart(int64_t variable) {
  if (!apart_) return nullptr;
  Tensor& own = (*apart_)[variable];
  if (!own) own = client().read(variable);
  return &own;
}

DISTRIBUTE_INLINE parameter_server::UpdateOrigin ServerAccess::next_origin() {
  const std::lock_guard lock(mutex_);
  parameter_server::UpdateOrigin origin = origin_;
  ++origin_.number;
  return origin;
}

/// The lock is held during the transfer, as the other replicas need the same values.
DISTRIBUTE_INLINE Tensor ServerAccess::read(int64_t variable) {
  parameter_server::Client& servers = client();
  std::unique_lock lock(mutex_);
  if (const Tensor* own = value_apart(variable)) return *own;
  if (steps_ == 0) {
    lock.unlock();
    return servers.read(variable);
  }
  touched_.insert(variable);
  return value_in_step(variable);
}

DISTRIBUTE_INLINE Tensor ServerAccess::value_if_read(int64_t variable) {
  const std::lock_guard lock(mutex_);
  if (steps_ == 0 || apart_) return {};
  const bool expected = std::find(expected_.begin(), expected_.end(), variable) != expected_.end();
  return expected || values_.contains(variable) ? value_in_step(variable) : Tensor();
}

/// Pulls all variables that the last step read; values that have not changed are not sent. mutex_
/// must be held.
DISTRIBUTE_INLINE Tensor ServerAccess::value_in_step(int64_t variable) {
  if (const auto known = values_.find(variable); known != values_.end()) return known->second;
  std::set<int64_t> wanted{variable};
  wanted.insert(expected_.begin(), expected_.end());
  wanted.insert(counters_.begin(), counters_.end());
  std::erase_if(wanted, [&](int64_t id) { return values_.contains(id); });
  const std::vector<int64_t> list(wanted.begin(), wanted.end());
  const std::vector<Tensor> values = client().pull(list);
  for (size_t i = 0; i < list.size(); ++i) values_[list[i]] = values[i];
  return values_.at(variable);
}

DISTRIBUTE_INLINE void ServerAccess::forget(int64_t variable) {
  const std::lock_guard lock(mutex_);
  values_.erase(variable);
}

DISTRIBUTE_INLINE void ServerAccess::assign(int64_t variable, const Tensor& value) {
  {
    const std::lock_guard lock(mutex_);
    if (apart_) {
      (*apart_)[variable] = value;
      return;
    }
  }
  client().assign(variable, value);
  forget(variable);
}
DISTRIBUTE_INLINE void ServerAccess::assign_add(int64_t variable, const Tensor& delta) {
  {
    const std::lock_guard lock(mutex_);
    if (Tensor* own = value_apart(variable)) {
      *own = combine(*own, delta, 1.0f);
      return;
    }
  }
  client().assign_add(variable, delta, next_origin());
  forget(variable);
}

/// Returns the token; a worker that starts late, or again, begins with the step that the job has
/// reached.
DISTRIBUTE_INLINE int64_t ServerAccess::token(int64_t counter) {
  const int64_t last = token_;
  return last >= 0 ? last : client().read(counter).item<int64_t>();
}

/// Returns the counter's value at the time when this step's weights came.
DISTRIBUTE_INLINE int64_t ServerAccess::step_of_weights(int64_t counter) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = values_.find(counter);
    if (known != values_.end()) return known->second.item<int64_t>();
  }
  return client().read(counter).item<int64_t>();
}

DISTRIBUTE_INLINE std::optional<BufferOffer> ServerAccess::place(const Variable& variable) {
  const auto* remote = dynamic_cast<const RemoteVariable*>(&variable.impl());
  return remote ? client().place_gradient(remote->remote_id()) : std::nullopt;
}

/// Rows that occur several times travel once.
DISTRIBUTE_INLINE Tensor with_rows_once(const Tensor& gradient) {
  if (!is_indexed_slices(gradient)) return gradient;
  const IndexedSlices slices = indexed_slices(gradient);
  const auto rows = slices.indices.data<int64_t>();
  const size_t different = std::set<int64_t>(rows.begin(), rows.end()).size();
  if (different == rows.size()) return gradient;
  const int64_t width = slices.values.num_elements() / int64_t(rows.size());
  std::vector<int64_t> indices;
  std::vector<float> values;
  replica_internal::sum_rows(rows, slices.values.data<float>().data(), width,
                             [&](int64_t row, const float* sum) {
                               indices.push_back(row);
                               values.insert(values.end(), sum, sum + width);
                             });
  const Shape shape = slices.values.shape().with(0, int64_t(different));
  return to_tensor(
      {Tensor(shape, values), Tensor(Shape{int64_t(different)}, indices), slices.dense_shape});
}

DISTRIBUTE_INLINE parameter_server::Client::Update sent_update(const VariableUpdate& update,
                                                               const ServerAccess& link) {
  parameter_server::Client::Update sent{.variable = remote_id(update.variable, link),
                                        .gradient = with_rows_once(update.gradient)};
  for (const Variable& slot : update.slots) sent.slots.push_back(remote_id(slot, link));
  return sent;
}

DISTRIBUTE_INLINE int64_t ServerAccess::push(std::span<const VariableUpdate> updates,
                                             const UpdateKernel& kernel, const Variable& counter) {
  if (is_apart())
    throw FailedPreconditionError(
        "an optimizer's step inside an evaluation, whose values are not "
        "those that the servers train");
  for (const VariableUpdate& update : updates) replica_internal::check_update(update);
  parameter_server::Client::Push push{.kernel = kernel.description(), .origin = next_origin()};
  for (const VariableUpdate& update : updates) push.updates.push_back(sent_update(update, *this));
  if (counter) push.counter = remote_id(counter, *this);
  if (const auto& sync = options_.sync_replicas; sync && counter)
    push.sync = {.replicas_to_aggregate = sync->replicas_to_aggregate,
                 .total_num_replicas = sync->total_num_replicas,
                 .local_step = token(push.counter),
                 .num_init_tokens = sync->num_init_tokens};
  if (options_.max_staleness >= 0 && counter) {
    push.max_staleness = options_.max_staleness;
    push.local_step = step_of_weights(push.counter);
  }
  const int64_t step = client().push(push);
  if (push.sync) token_ = step;
  const std::lock_guard lock(mutex_);
  values_.erase(push.counter);
  for (const auto& update : push.updates) {
    values_.erase(update.variable);
    for (const int64_t slot : update.slots) values_.erase(slot);
  }
  std::set<int64_t> next = touched_;
  next.insert(counters_.begin(), counters_.end());
  client().prefetch(std::vector<int64_t>(next.begin(), next.end()));
  return step;
}

}  // namespace distribute::strategy_internal
