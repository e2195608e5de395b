#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/parameter_server/detail/client.hpp>
#include <distribute/parameter_server/detail/gradient_push.hpp>
#include <distribute/parameter_server/detail/known_variables.hpp>
#include <distribute/parameter_server/detail/late_waits.hpp>
#include <distribute/parameter_server/detail/link_message.hpp>
#include <distribute/parameter_server/detail/server_calls.hpp>
#include <distribute/parameter_server/detail/server_lanes.hpp>
#include <distribute/parameter_server/detail/value_pull.hpp>
#include <distribute/rpc/detail/tensor_codec.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <utility>

namespace distribute::parameter_server {

struct Client::Impl {
  Impl(std::shared_ptr<rpc::JobTask> task, ClientOptions the_options)
      : options(the_options),
        lanes(std::move(task), options),
        waits(lanes.task()),
        pushes(lanes, variables, waits, options.bf16_on_wire) {}

  Id remember(const VariableSpec& spec, int server, int64_t handle);
  void write_initial(Id id, const InitialValue& value);

  /// The answer to a call.
  template <net::Field Answer, net::Field Question>
  Answer ask(int server, const char* method, const Question& question,
             std::optional<net::Deadline> deadline = {}) {
    const std::string answer =
        lanes.call(server, method, net::encode_message(question), deadline.value_or(lanes.soon()));
    return value_or_throw(net::parse_message<Answer>(answer, method));
  }

  // Begins a pull; mutex must be held.
  ValuePull begin_pull(std::span<const Id> ids) {
    return ValuePull(lanes, variables, options.bf16_on_wire, ids);
  }
  void write_by_rows(Id id, const InitialValue::Rows& rows);
  void send_values(Id id, LinkRequest type, std::string request, const Tensor& values,
                   Tensor* result);
  void assign(Id id, const Tensor& values);
  /// Returns the variable after checking that no server is lost.
  KnownVariable& use(Id id) {
    KnownVariable& variable = variables.at(id);
    lanes.throw_if_lost();
    return variable;
  }

  const ClientOptions options;
  ServerLanes lanes;
  LateWaits waits;
  std::recursive_mutex mutex;  // guards the lanes' data and all below
  KnownVariables variables;
  GradientPush pushes;
  std::optional<ValuePull> prefetched;
  bool written = false;  // since the prefetch began
};

DISTRIBUTE_INLINE Client::Id Client::Impl::remember(const VariableSpec& spec, int server,
                                                    int64_t handle) {
  const std::lock_guard lock(mutex);
  if (const auto known = variables.find(spec.key)) return *known;
  KnownVariable variable{.spec = spec, .server = server, .handle = handle};
  variable.lane = lanes.assign_lane(server, variable.bytes());
  return variables.add(std::move(variable));
}

/// Receives the answer's bytes in this tensor.
DISTRIBUTE_INLINE decltype(LinkAnswer::place) into(Tensor& result) {
  return [&result](std::string_view) -> LinkAnswer::Bytes {
    return {{reinterpret_cast<std::byte*>(result.array().bytes()),
             size_t(result.num_elements() * size_of(result.dtype()))}};
  };
}

DISTRIBUTE_INLINE void Client::Impl::send_values(Id id, LinkRequest type, std::string encoded,
                                                 const Tensor& values, Tensor* result) {
  const KnownVariable& variable = variables.at(id);
  const bool on_gpu = values.device().type == DeviceType::Gpu;  // as first values may be
  const Tensor plain = on_gpu ? values.to(Device{}) : values.row_major();
  ServerLink::Request request{.type = type, .request = std::move(encoded)};
  request.bytes.emplace_back(reinterpret_cast<const std::byte*>(plain.array().bytes()),
                             size_t(plain.num_elements() * size_of(plain.dtype())));
  if (result) request.place = into(*result);
  written |= type != LinkRequest::Gather;
  lanes.finish(variable.lane, lanes.request(variable.lane, std::move(request)));
}

DISTRIBUTE_INLINE void Client::Impl::assign(Id id, const Tensor& values) {
  const VariableRequest request{variables.at(id).handle};
  send_values(id, LinkRequest::Assign, net::encode_message(request), values, nullptr);
}

DISTRIBUTE_INLINE Client::Client(std::shared_ptr<rpc::JobTask> task, ClientOptions options)
    : impl_(std::make_unique<Impl>(std::move(task), options)) {}
DISTRIBUTE_INLINE Client::~Client() = default;

DISTRIBUTE_INLINE int Client::num_servers() const { return impl_->lanes.num_servers(); }
DISTRIBUTE_INLINE const std::shared_ptr<rpc::JobTask>& Client::task() const {
  return impl_->lanes.task();
}
DISTRIBUTE_INLINE std::string Client::transport(int server) const {
  return impl_->lanes.arena(server) ? "shm" : "tcp";
}
DISTRIBUTE_INLINE int64_t Client::bytes_moved() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->lanes.bytes_moved();
}
DISTRIBUTE_INLINE int Client::server_of(Id id) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->variables.at(id).server;
}

DISTRIBUTE_INLINE Client::Id Client::create(const VariableSpec& spec,
                                            const InitialValue& initial_value, Existing existing) {
  const PlaceCall place{.key = spec.key,
                        .shape = spec.shape,
                        .dtype = spec.dtype,
                        .server = spec.server.value_or(-1),
                        .colocate_with = spec.colocate_with,
                        .placement = impl_->options.placement};
  const auto server = impl_->ask<int32_t>(0, "ps/place", place);
  const VariableCall create{impl_->lanes.soon().left().count(), spec.key, spec.shape, spec.dtype};
  const auto created = impl_->ask<CreatedAnswer>(server, "ps/create", create);
  const Id id = impl_->remember(spec, server, created.handle);
  if (created.initialize || existing == Existing::Overwrite)
    impl_->write_initial(id, initial_value);
  if (created.initialize)
    impl_->lanes.call(server, "ps/created", net::encode_message(created.handle));
  return id;
}

DISTRIBUTE_INLINE void Client::Impl::write_initial(Id id, const InitialValue& value) {
  const std::lock_guard lock(mutex);
  const KnownVariable& variable = variables.at(id);
  if (value.number()) {
    ServerLink::Request request{
        .type = LinkRequest::Fill,
        .request = net::encode_message(FillRequest{variable.handle, *value.number()})};
    lanes.finish(variable.lane, lanes.request(variable.lane, std::move(request)));
  } else if (value.by_rows()) {
    write_by_rows(id, value.by_rows());
  } else {
    const Tensor whole = value.whole()();
    variable.check("create", whole);
    assign(id, whole);
  }
}

DISTRIBUTE_INLINE void Client::Impl::write_by_rows(Id id, const InitialValue::Rows& rows_of) {
  const KnownVariable& variable = variables.at(id);
  const VariableSpec& spec = variable.spec;
  const int64_t rows = spec.shape[0];
  const int64_t row_bytes = std::max<int64_t>(variable.bytes() / std::max<int64_t>(rows, 1), 1);
  const int64_t step = std::max<int64_t>(1, (int64_t{4} << 20) / row_bytes);
  for (int64_t begin = 0; begin < rows; begin += step) {
    const int64_t end = std::min(rows, begin + step);
    const Tensor part = rows_of(begin, end);
    if (part.shape() != spec.shape.with(0, end - begin) || part.dtype() != spec.dtype)
      throw InvalidArgumentError(str_cat("create: rows ", begin, " to ", end, " of variable '",
                                         spec.key, "' came as ", name_of(part.dtype()), " ",
                                         to_string(part.shape())));
    send_values(id, LinkRequest::WriteRows,
                net::encode_message(RowsRequest{variable.handle, begin, end - begin}), part,
                nullptr);
  }
}

DISTRIBUTE_INLINE double seconds_left(net::Deadline deadline) {
  return std::round(std::chrono::duration<double>(deadline.left()).count());
}

DISTRIBUTE_INLINE Client::Id Client::attach(const VariableSpec& spec, net::Deadline deadline) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (const auto known = impl_->variables.find(spec.key)) return *known;
  }
  const LateWaits::Wait wait(impl_->waits, seconds_left(deadline), [key = spec.key] {
    return str_cat("variable '", key, "', which the chief creates");
  });
  const WaitCall find{deadline.left().count(), spec.key};
  const auto server = impl_->ask<int32_t>(0, "ps/find", find, deadline);
  const VariableCall attach{deadline.left().count(), spec.key, spec.shape, spec.dtype};
  return impl_->remember(spec, server, impl_->ask<int32_t>(server, "ps/attach", attach, deadline));
}

DISTRIBUTE_INLINE bool Client::exists(const std::string& key) {
  const auto server = impl_->ask<int32_t>(0, "ps/find_now", key);
  return server >= 0 && impl_->ask<bool>(server, "ps/exists", key);
}

/// Always fresh; a prefetch under way stays for the next pull.
DISTRIBUTE_INLINE Tensor Client::read(Id id) {
  const std::lock_guard lock(impl_->mutex);
  const KnownVariable& variable = impl_->use(id);
  impl_->begin_pull(std::span(&id, 1)).finish();
  return variable.value;
}

DISTRIBUTE_INLINE void Client::assign(Id id, const Tensor& value) {
  const std::lock_guard lock(impl_->mutex);
  const KnownVariable& variable = impl_->use(id);
  variable.check("assign", value);
  impl_->assign(id, value);
}

DISTRIBUTE_INLINE Tensor Client::assign_add(Id id, const Tensor& delta,
                                            const UpdateOrigin& origin) {
  const std::lock_guard lock(impl_->mutex);
  const KnownVariable& variable = impl_->use(id);
  variable.check("assign_add", delta);
  Tensor result = Tensor::empty(variable.spec.shape, variable.spec.dtype, Device{});
  impl_->send_values(id, LinkRequest::AssignAdd,
                     net::encode_message(AddRequest{variable.handle, origin}), delta, &result);
  return result;
}

DISTRIBUTE_INLINE Tensor Client::gather_rows(Id id, const Tensor& rows) {
  const std::lock_guard lock(impl_->mutex);
  const KnownVariable& variable = impl_->use(id);
  if (rows.dtype() != DType::Int64 || rows.shape().rank() != 1 || variable.spec.shape.rank() < 1)
    throw InvalidArgumentError(str_cat(
        "gather_rows: wanted int64 [n] and a variable with rows, got ", name_of(rows.dtype()), " ",
        to_string(rows.shape()), " and ", to_string(variable.spec.shape)));
  Tensor result = Tensor::empty(variable.spec.shape.with(0, rows.num_elements()),
                                variable.spec.dtype, Device{});
  impl_->send_values(id, LinkRequest::Gather,
                     net::encode_message(RowsRequest{variable.handle, 0, rows.num_elements()}),
                     rows, &result);
  return result;
}

DISTRIBUTE_INLINE Tensor Client::read_rows(Id id, int64_t begin, int64_t end) {
  const std::lock_guard lock(impl_->mutex);
  const KnownVariable& variable = impl_->use(id);
  if (variable.spec.shape.rank() < 1 || begin < 0 || end < begin || end > variable.spec.shape[0])
    throw InvalidArgumentError(str_cat("read_rows: variable '", variable.spec.key, "' is ",
                                       to_string(variable.spec.shape), ", rows ", begin, " to ",
                                       end, " are asked for"));
  Tensor result =
      Tensor::empty(variable.spec.shape.with(0, end - begin), variable.spec.dtype, Device{});
  ServerLink::Request request{.type = LinkRequest::ReadRows};
  request.request = net::encode_message(RowsRequest{variable.handle, begin, end - begin});
  request.place = into(result);
  impl_->lanes.finish(variable.lane, impl_->lanes.request(variable.lane, std::move(request)));
  return result;
}

DISTRIBUTE_INLINE std::vector<Tensor> Client::pull(std::span<const Id> ids) {
  const std::lock_guard lock(impl_->mutex);
  impl_->lanes.throw_if_lost();
  bool fresh = false;
  if (impl_->prefetched) {
    auto pull = *std::exchange(impl_->prefetched, std::nullopt);
    fresh = !impl_->written && pull.covers(ids);
    pull.finish();
  }
  if (!fresh) impl_->begin_pull(ids).finish();
  std::vector<Tensor> values;
  for (const Id id : ids) values.push_back(impl_->variables.at(id).value);
  return values;
}

DISTRIBUTE_INLINE void Client::prefetch(std::span<const Id> ids) {
  const std::lock_guard lock(impl_->mutex);
  impl_->lanes.throw_if_lost();
  if (impl_->prefetched) std::exchange(impl_->prefetched, std::nullopt)->finish();
  impl_->prefetched.emplace(impl_->begin_pull(ids));
  impl_->written = false;
  impl_->lanes.advance();
}

DISTRIBUTE_INLINE int64_t Client::push(const Push& push) {
  std::unique_lock lock(impl_->mutex);
  impl_->lanes.throw_if_lost();
  impl_->written = true;
  return impl_->pushes.push(push, lock);
}

DISTRIBUTE_INLINE void Client::flush() {
  const std::lock_guard lock(impl_->mutex);
  impl_->lanes.throw_if_lost();
  impl_->pushes.flush();
}

DISTRIBUTE_INLINE std::optional<BufferOffer> Client::place_gradient(Id id) {
  const std::lock_guard lock(impl_->mutex);
  const KnownVariable& variable = impl_->variables.at(id);
  if (variable.spec.dtype != DType::Float32 || variable.bytes() < 4096) return std::nullopt;
  return impl_->lanes.gradients(variable.server).offer(variable.bytes());
}

DISTRIBUTE_INLINE void Client::set(const std::string& key, const std::string& value) {
  impl_->lanes.call(0, "ps/set", net::encode_message(SetCall{key, value}));
}

DISTRIBUTE_INLINE std::string Client::wait(const std::string& key, net::Deadline deadline,
                                           const std::string& what) {
  const LateWaits::Wait wait(impl_->waits, seconds_left(deadline), [key, what] {
    return what.empty() ? str_cat("another task to set '", key, "'") : what;
  });
  return impl_->ask<std::string>(0, "ps/get", WaitCall{deadline.left().count(), key}, deadline);
}

DISTRIBUTE_INLINE void Client::finish_job() {
  for (int server = 0; server < num_servers(); ++server) impl_->lanes.call(server, "ps/finish", "");
}

DISTRIBUTE_INLINE void Client::report_failure() {
  const auto deadline = net::Deadline::after_seconds(2);
  for (int server = 0; server < num_servers(); ++server)
    impl_->lanes.call(server, "ps/failed", "", deadline);
}

}  // namespace distribute::parameter_server
