#pragma once
#include <distribute/base/status.hpp>
#include <distribute/cluster/host_identity.hpp>
#include <distribute/cluster/task_server.hpp>
#include <distribute/net/descriptor_door.hpp>
#include <distribute/parameter_server/client.hpp>
#include <distribute/parameter_server/gradient_memory.hpp>
#include <distribute/parameter_server/server_link.hpp>
#include <distribute/rpc/rpc_message.hpp>
#include <distribute/rpc/tensor_codec.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>

namespace distribute::parameter_server {

struct Client::Impl {
  using Answer = std::shared_ptr<LinkAnswer>;

  struct Server {
    std::shared_ptr<rpc::Peer> peer;
    std::shared_ptr<SharedArena> arena;  // the server's; null: over TCP
    std::shared_ptr<GradientMemory> gradients;
    int first_lane = 0, lanes = 0;
    std::mutex mutex;  // guards the idle channels
    std::vector<std::shared_ptr<rpc::RpcChannel>> idle;
  };
  /// One of several connections to a server; each variable has its lane.
  struct Lane {
    int server = 0;
    std::unique_ptr<ServerLink> link;
    int64_t load = 0;                // bytes of its variables
    std::deque<Answer> under_way;    // of the flushes behind pushes
    std::vector<Answer> background;  // looked at when they are there
  };
  struct Entry {
    VariableSpec spec;
    int server = 0, lane = 0;
    int64_t handle = 0;
    Tensor value = {};  // the latest that has come, and its version
    uint64_t version = 0;
    int64_t bytes() const { return spec.shape.num_elements() * size_of(spec.dtype); }
  };
  struct PullUnderWay {
    std::vector<Id> ids;
    std::vector<Answer> answers;
  };

  Impl(std::shared_ptr<rpc::JobTask> the_task, ClientOptions the_options);
  void connect(int index, net::Deadline deadline);
  void open_lane(net::Deadline deadline);
  int flows(const Server& server) const;
  void share_memory(Server& server, ServerLink& link, net::Deadline deadline);
  net::Deadline soon() const {
    return net::Deadline::after_seconds(task->options().operation_timeout);
  }

  std::string call(int server, const std::string& method, std::string_view body,
                   net::Deadline deadline);
  std::string call(int server, const std::string& method, std::string_view body) {
    return call(server, method, body, soon());
  }
  Id remember(const VariableSpec& spec, int server, int64_t handle);
  void write_initial(Id id, const InitialValue& value);

  // With mutex held.
  Entry& entry(Id id);
  void throw_if_lost() const;
  void drive(const std::vector<Answer>& answers, net::Deadline deadline);
  Answer request(int lane, ServerLink::Request request);
  std::string finish(int lane, const Answer& answer);
  Answer pull_from(int lane, std::vector<Id> ids);
  PullUnderWay begin_pull(std::span<const Id> ids);
  void finish_pull(const PullUnderWay& pull);
  Tensor wrap(const Entry& entry, int64_t offset);
  void send_values(Id id, LinkRequest type, net::ByteWriter head, const Tensor& values,
                   Tensor* result);
  void check(const char* method, const Entry& entry, const Tensor& value) const;

  // Pushes.
  struct PushPart {
    ServerLink::Request request;
    net::ByteWriter updates;
    uint32_t count = 0;
    std::vector<std::shared_ptr<GradientPlace>> places;  // to be kept until all is applied
  };
  void wait_for_room(int lane);
  std::map<int, PushPart> divide(const Push& push);
  void add_update(PushPart& part, const Push& push, size_t index);
  void add_gradient(PushPart& part, Server& server, const Entry& entry, const Tensor& gradient);
  void add_floats(PushPart& part, const Tensor& values);
  std::map<int, Answer> stage(const Push& push, std::map<int, PushPart> parts, bool commit);
  int64_t commit(const Push& push, const std::vector<int>& involved);
  int64_t synchronize(const Push& push, std::unique_lock<std::recursive_mutex>& lock);
  void begin_flush(int lane, std::vector<std::shared_ptr<GradientPlace>> places);

  std::shared_ptr<rpc::JobTask> task;
  ClientOptions options;
  std::vector<std::unique_ptr<Server>> servers;
  std::deque<Lane> lanes;
  std::vector<ServerLink*> links;  // of the lanes
  std::recursive_mutex mutex;      // guards links and all below
  std::deque<Entry> entries;
  std::map<std::string, Id> ids;
  std::optional<PullUnderWay> prefetched;
  int64_t pushes = 0;
  bool written = false;  // since the prefetch began
};

DISTRIBUTE_INLINE Client::Impl::Impl(std::shared_ptr<rpc::JobTask> the_task,
                                     ClientOptions the_options)
    : task(std::move(the_task)), options(the_options) {
  if (!task->cluster().has_job("ps"))
    throw InvalidArgumentError("parameter servers: There must be at least one ps.");
  const auto deadline = net::Deadline::after_seconds(task->options().startup_timeout);
  for (const int index : task->cluster().task_indices("ps")) {
    servers.push_back(std::make_unique<Server>());
    connect(index, deadline);
  }
}

DISTRIBUTE_INLINE void Client::Impl::connect(int index, net::Deadline deadline) {
  Server& server = *servers.back();
  server.gradients = std::make_shared<GradientMemory>(nullptr);
  server.peer = task->peer("ps", index, deadline);
  server.first_lane = int(lanes.size());
  open_lane(deadline);
  if (options.transport != Transport::Tcp) share_memory(server, *links.back(), deadline);
  if (options.transport == Transport::SharedMemory && !server.arena)
    throw FailedPreconditionError(
        concat(server.peer->text(), " does not share memory with this task"));
  for (int more = flows(server) - 1; more > 0; --more) open_lane(deadline);
}

DISTRIBUTE_INLINE void Client::Impl::open_lane(net::Deadline deadline) {
  Server& server = *servers.back();
  Lane& lane = lanes.emplace_back();
  lane.server = int(servers.size()) - 1;
  lane.link = std::make_unique<ServerLink>(server.peer,
                                           task->dial(*server.peer, kLinkPurpose, "", deadline));
  links.push_back(lane.link.get());
  ++server.lanes;
}

/// On one host a second connection gives no bandwidth, between hosts a single one is often slower
/// than the line.
DISTRIBUTE_INLINE int Client::Impl::flows(const Server& server) const {
  if (server.arena) return 1;
  if (options.flows > 0) return options.flows;
  const auto address = net::parse_address(server.peer->name().address);
  return address.ok() && address->is_loopback() ? 1 : 4;
}

DISTRIBUTE_INLINE void Client::Impl::share_memory(Server& server, ServerLink& link,
                                                  net::Deadline deadline) {
  ServerLink::Request request{.type = LinkRequest::Share};
  request.head.text(host_identity());
  const Answer answer = link.send(std::move(request));
  ServerLink* const only = &link;
  ServerLink::drive(
      std::span(&only, 1), [&] { return answer->done; }, deadline);
  const std::string name(net::ByteReader(answer->head).text());
  if (answer->code != StatusCode::Ok || name.empty()) return;
  auto own = SharedArena::create();
  auto door = net::knock(name);
  if (!own || !door.ok()) return;
  const auto descriptor = net::receive_descriptor(*door, deadline);
  if (!descriptor.ok()) return;
  auto theirs = SharedArena::attach(*descriptor);
  if (!theirs || !net::send_descriptor(*door, own->descriptor()).ok()) return;
  std::byte done{0};
  if (!door->read({&done, 1}, deadline).ok() || done != std::byte{1}) return;
  server.arena = std::move(theirs);
  server.gradients = std::make_shared<GradientMemory>(std::move(own));
}

DISTRIBUTE_INLINE std::string Client::Impl::call(int index, const std::string& method,
                                                 std::string_view body, net::Deadline deadline) {
  throw_if_lost();
  Server& server = *servers[size_t(index)];
  // The server gives up first, and knows what it waited for.
  const auto later = net::Deadline::after(deadline.left() + net::seconds(5));
  std::shared_ptr<rpc::RpcChannel> channel;
  {
    const std::lock_guard lock(server.mutex);
    if (!server.idle.empty()) {
      channel = std::move(server.idle.back());
      server.idle.pop_back();
    }
  }
  if (!channel)  // to this start of the server: one that comes back is not waited for
    channel = std::make_shared<rpc::RpcChannel>(
        server.peer, task->dial(*server.peer, rpc::kRpcPurpose, "", later),
        task->options().max_message_bytes);
  const auto give_back = [&] {
    const std::lock_guard lock(server.mutex);
    if (channel->usable()) server.idle.push_back(channel);
  };
  try {
    std::string answer = channel->call(method, body, later);
    give_back();
    return answer;
  } catch (const Error&) {
    give_back();
    throw;
  }
}

DISTRIBUTE_INLINE void Client::Impl::throw_if_lost() const {
  for (const auto& server : servers) server->peer->throw_if_lost();
}

DISTRIBUTE_INLINE Client::Impl::Entry& Client::Impl::entry(Id id) {
  if (id < 0 || id >= Id(entries.size()))
    throw InvalidArgumentError(concat("parameter servers: there is no variable ", id, " here"));
  return entries[size_t(id)];
}

DISTRIBUTE_INLINE Client::Id Client::Impl::remember(const VariableSpec& spec, int server,
                                                    int64_t handle) {
  const std::lock_guard lock(mutex);
  const auto [found, fresh] = ids.try_emplace(spec.key, Id(entries.size()));
  if (!fresh) return found->second;
  const Server& home = *servers[size_t(server)];
  int best = home.first_lane;
  for (int lane = best; lane < home.first_lane + home.lanes; ++lane)
    if (lanes[size_t(lane)].load < lanes[size_t(best)].load) best = lane;
  entries.push_back({spec, server, best, handle});
  lanes[size_t(best)].load += entries.back().bytes();
  return found->second;
}

DISTRIBUTE_INLINE void Client::Impl::drive(const std::vector<Answer>& answers,
                                           net::Deadline deadline) {
  ServerLink::drive(
      links,
      [&] {
        return std::all_of(answers.begin(), answers.end(), [](const auto& a) { return a->done; });
      },
      deadline);
}

DISTRIBUTE_INLINE Client::Impl::Answer Client::Impl::request(int lane,
                                                             ServerLink::Request request) {
  return lanes[size_t(lane)].link->send(std::move(request));
}

/// What the answer holds, or throws what went wrong there.
DISTRIBUTE_INLINE std::string Client::Impl::finish(int lane, const Answer& answer) {
  drive({answer}, soon());
  if (answer->code != StatusCode::Ok)
    throw_error(answer->code,
                concat(lanes[size_t(lane)].link->peer().name().name(), ": ", answer->error));
  return answer->head;
}

DISTRIBUTE_INLINE void Client::Impl::check(const char* method, const Entry& entry,
                                           const Tensor& value) const {
  if (value && value.shape() == entry.spec.shape && value.dtype() == entry.spec.dtype) return;
  throw InvalidArgumentError(
      concat(method, ": variable '", entry.spec.key, "' is ", name_of(entry.spec.dtype), " ",
             to_string(entry.spec.shape), ", got ",
             value ? concat(name_of(value.dtype()), " ", to_string(value.shape())) : "none"));
}

DISTRIBUTE_INLINE void Client::Impl::send_values(Id id, LinkRequest type, net::ByteWriter head,
                                                 const Tensor& values, Tensor* result) {
  const Entry& entry = this->entry(id);
  const Tensor plain = values.row_major();
  ServerLink::Request request{.type = type, .head = std::move(head)};
  request.bytes.emplace_back(reinterpret_cast<const std::byte*>(plain.array().bytes()),
                             size_t(plain.num_elements() * size_of(plain.dtype())));
  if (result) {
    request.place = [&](net::ByteReader&) -> LinkAnswer::Bytes {
      return {{reinterpret_cast<std::byte*>(result->array().bytes()),
               size_t(result->num_elements() * size_of(result->dtype()))}};
    };
  }
  written |= type != LinkRequest::Gather;
  finish(entry.lane, this->request(entry.lane, std::move(request)));
}

DISTRIBUTE_INLINE Tensor Client::Impl::wrap(const Entry& entry, int64_t offset) {
  const auto& arena = servers[size_t(entry.server)]->arena;
  if (!arena || offset < 0 || offset > arena->bytes() - entry.bytes())
    throw InternalError(concat("ps ", entry.server, ": variable '", entry.spec.key,
                               "' lies outside of the shared memory"));
  auto released = lanes[size_t(entry.lane)].link->released();
  const auto buffer =
      std::make_shared<Buffer>(arena->at(offset), entry.bytes(), Device{},
                               [arena, released = std::move(released), handle = entry.handle,
                                offset] { released->add(handle, offset); });
  return Tensor(entry.spec.shape, entry.spec.dtype, Array{buffer, 0, nullptr});
}

/// What has come of a pull from one server, in the order of the request.
struct Arrivals {
  std::vector<Client::Id> ids;
  std::vector<Tensor> values;  // none: unchanged
  std::vector<uint64_t> versions;
  std::vector<std::vector<uint16_t>> halves;
};

DISTRIBUTE_INLINE Client::Impl::Answer Client::Impl::pull_from(int lane, std::vector<Id> ids) {
  ServerLink::Request request{.type = LinkRequest::Pull};
  request.head.number(uint8_t(options.bf16_on_wire)).number(uint32_t(ids.size()));
  for (const Id id : ids) {
    const Entry& entry = this->entry(id);
    request.head.number(entry.handle).number(entry.value ? entry.version : 0);
  }
  const auto arrivals = std::make_shared<Arrivals>();
  arrivals->ids = std::move(ids);
  request.place = [this, arrivals](net::ByteReader& head) {
    LinkAnswer::Bytes places;
    for (const Id id : arrivals->ids) {
      const Entry& entry = this->entry(id);
      const auto where = Where(head.number<uint8_t>());
      arrivals->versions.push_back(where == Where::Unchanged ? 0 : head.number<uint64_t>());
      Tensor& value = arrivals->values.emplace_back();
      auto& half = arrivals->halves.emplace_back();
      if (where == Where::Unchanged) continue;
      if (where == Where::Arena) {
        value = wrap(entry, head.number<int64_t>());
        continue;
      }
      value = Tensor::empty(entry.spec.shape, entry.spec.dtype, Device{});
      if (where == Where::Halved) {
        half.resize(size_t(value.num_elements()));
        places.push_back(std::as_writable_bytes(std::span(half)));
      } else {
        places.emplace_back(reinterpret_cast<std::byte*>(value.array().bytes()),
                            size_t(entry.bytes()));
      }
    }
    return places;
  };
  request.finish = [this, arrivals] {
    for (size_t i = 0; i < arrivals->ids.size(); ++i) {
      Tensor& value = arrivals->values[i];
      if (!value) continue;
      const auto& half = arrivals->halves[i];
      if (!half.empty()) widen(half.data(), value.mutable_data<float>(), value.num_elements());
      Entry& entry = this->entry(arrivals->ids[i]);
      entry.value = value;
      entry.version = arrivals->versions[i];
    }
  };
  return this->request(lane, std::move(request));
}

DISTRIBUTE_INLINE Client::Impl::PullUnderWay Client::Impl::begin_pull(std::span<const Id> ids) {
  std::map<int, std::vector<Id>> by_lane;
  std::set<Id> seen;
  for (const Id id : ids)
    if (seen.insert(id).second) by_lane[entry(id).lane].push_back(id);
  PullUnderWay pull{{ids.begin(), ids.end()}, {}};
  for (auto& [lane, list] : by_lane) pull.answers.push_back(pull_from(lane, std::move(list)));
  return pull;
}

DISTRIBUTE_INLINE void Client::Impl::finish_pull(const PullUnderWay& pull) {
  drive(pull.answers, soon());
  for (const Answer& answer : pull.answers)
    if (answer->code != StatusCode::Ok) throw_error(answer->code, "pull: " + answer->error);
}

DISTRIBUTE_INLINE Client::Client(std::shared_ptr<rpc::JobTask> task, ClientOptions options)
    : impl_(std::make_unique<Impl>(std::move(task), options)) {}
DISTRIBUTE_INLINE Client::~Client() = default;

DISTRIBUTE_INLINE int Client::num_servers() const { return int(impl_->servers.size()); }
DISTRIBUTE_INLINE const std::shared_ptr<rpc::JobTask>& Client::task() const { return impl_->task; }
DISTRIBUTE_INLINE std::string Client::transport(int server) const {
  return impl_->servers.at(size_t(server))->arena ? "shm" : "tcp";
}
DISTRIBUTE_INLINE int64_t Client::bytes_moved() const {
  const std::lock_guard lock(impl_->mutex);
  int64_t bytes = 0;
  for (const ServerLink* link : impl_->links) bytes += link->bytes_moved();
  return bytes;
}
DISTRIBUTE_INLINE int Client::server_of(Id id) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->entry(id).server;
}

DISTRIBUTE_INLINE Client::Id Client::create(const VariableSpec& spec,
                                            const InitialValue& initial_value, Existing existing) {
  net::ByteWriter place;
  place.text(spec.key);
  rpc::write_shape(place, spec.shape, spec.dtype);
  place.number(int32_t(spec.server.value_or(-1))).text(spec.colocate_with);
  place.number(uint8_t(impl_->options.placement));
  const int server = std::stoi(impl_->call(0, "ps/place", place.bytes()));
  net::ByteWriter request;
  request.number(impl_->soon().left().count()).text(spec.key);
  rpc::write_shape(request, spec.shape, spec.dtype);
  const std::string answer = impl_->call(server, "ps/create", request.bytes());
  net::ByteReader reader(answer);
  const auto handle = reader.number<int32_t>();
  const bool initialize = reader.number<uint8_t>() != 0;
  const Id id = impl_->remember(spec, server, handle);
  if (initialize || existing == Existing::Overwrite) impl_->write_initial(id, initial_value);
  if (initialize) impl_->call(server, "ps/created", net::ByteWriter().number(handle).bytes());
  return id;
}

DISTRIBUTE_INLINE void Client::Impl::write_initial(Id id, const InitialValue& value) {
  const std::unique_lock lock(mutex);
  const Entry& entry = this->entry(id);
  if (value.number()) {
    ServerLink::Request request{.type = LinkRequest::Fill};
    request.head.number(entry.handle).number(std::bit_cast<uint64_t>(*value.number()));
    finish(entry.lane, this->request(entry.lane, std::move(request)));
    return;
  }
  if (!value.by_rows()) {
    const Tensor whole = value.whole()();
    check("create", entry, whole);
    return send_values(id, LinkRequest::Assign, net::ByteWriter().number(entry.handle), whole,
                       nullptr);
  }
  const int64_t rows = entry.spec.shape[0];
  const int64_t row_bytes = std::max<int64_t>(entry.bytes() / std::max<int64_t>(rows, 1), 1);
  const int64_t step = std::max<int64_t>(1, (int64_t{4} << 20) / row_bytes);
  for (int64_t begin = 0; begin < rows; begin += step) {
    const int64_t end = std::min(rows, begin + step);
    const Tensor part = value.by_rows()(begin, end);
    if (part.shape() != entry.spec.shape.with(0, end - begin) || part.dtype() != entry.spec.dtype)
      throw InvalidArgumentError(concat("create: rows ", begin, " to ", end, " of variable '",
                                        entry.spec.key, "' came as ", name_of(part.dtype()), " ",
                                        to_string(part.shape())));
    send_values(id, LinkRequest::WriteRows, net::ByteWriter().number(entry.handle).number(begin),
                part, nullptr);
  }
}

DISTRIBUTE_INLINE Client::Id Client::attach(const VariableSpec& spec, net::Deadline deadline) {
  {
    const std::lock_guard lock(impl_->mutex);
    const auto found = impl_->ids.find(spec.key);
    if (found != impl_->ids.end()) return found->second;
  }
  net::ByteWriter find;
  find.number(deadline.left().count()).text(spec.key);
  const int server = std::stoi(impl_->call(0, "ps/find", find.bytes(), deadline));
  net::ByteWriter request;
  request.number(deadline.left().count()).text(spec.key);
  rpc::write_shape(request, spec.shape, spec.dtype);
  const std::string answer = impl_->call(server, "ps/attach", request.bytes(), deadline);
  return impl_->remember(spec, server, net::ByteReader(answer).number<int32_t>());
}

DISTRIBUTE_INLINE bool Client::exists(const std::string& key) {
  const int server = std::stoi(impl_->call(0, "ps/find_now", key));
  return server >= 0 && impl_->call(server, "ps/exists", key) == "1";
}

/// Always fresh; a prefetch under way stays for the next pull.
DISTRIBUTE_INLINE Tensor Client::read(Id id) {
  const std::lock_guard lock(impl_->mutex);
  impl_->throw_if_lost();
  impl_->finish_pull(impl_->begin_pull(std::span(&id, 1)));
  return impl_->entry(id).value;
}

DISTRIBUTE_INLINE void Client::assign(Id id, const Tensor& value) {
  const std::lock_guard lock(impl_->mutex);
  const auto& entry = impl_->entry(id);
  impl_->throw_if_lost();
  impl_->check("assign", entry, value);
  impl_->send_values(id, LinkRequest::Assign, net::ByteWriter().number(entry.handle), value,
                     nullptr);
}

DISTRIBUTE_INLINE Tensor Client::assign_add(Id id, const Tensor& delta) {
  const std::lock_guard lock(impl_->mutex);
  const auto& entry = impl_->entry(id);
  impl_->throw_if_lost();
  impl_->check("assign_add", entry, delta);
  Tensor result = Tensor::empty(entry.spec.shape, entry.spec.dtype, Device{});
  impl_->send_values(id, LinkRequest::AssignAdd, net::ByteWriter().number(entry.handle), delta,
                     &result);
  return result;
}

DISTRIBUTE_INLINE Tensor Client::gather_rows(Id id, const Tensor& rows) {
  const std::lock_guard lock(impl_->mutex);
  const auto& entry = impl_->entry(id);
  impl_->throw_if_lost();
  if (rows.dtype() != DType::Int64 || rows.shape().rank() != 1 || entry.spec.shape.rank() < 1)
    throw InvalidArgumentError(concat(
        "gather_rows: wanted int64 [n] and a variable with rows, got ", name_of(rows.dtype()), " ",
        to_string(rows.shape()), " and ", to_string(entry.spec.shape)));
  Tensor result =
      Tensor::empty(entry.spec.shape.with(0, rows.num_elements()), entry.spec.dtype, Device{});
  impl_->send_values(id, LinkRequest::Gather,
                     net::ByteWriter().number(entry.handle).number(rows.num_elements()), rows,
                     &result);
  return result;
}

DISTRIBUTE_INLINE Tensor Client::read_rows(Id id, int64_t begin, int64_t end) {
  const std::lock_guard lock(impl_->mutex);
  const auto& entry = impl_->entry(id);
  impl_->throw_if_lost();
  if (entry.spec.shape.rank() < 1 || begin < 0 || end < begin || end > entry.spec.shape[0])
    throw InvalidArgumentError(concat("read_rows: variable '", entry.spec.key, "' is ",
                                      to_string(entry.spec.shape), ", rows ", begin, " to ", end,
                                      " are asked for"));
  Tensor result = Tensor::empty(entry.spec.shape.with(0, end - begin), entry.spec.dtype, Device{});
  ServerLink::Request request{.type = LinkRequest::ReadRows};
  request.head.number(entry.handle).number(begin).number(end - begin);
  request.place = [&](net::ByteReader&) -> LinkAnswer::Bytes {
    return {{reinterpret_cast<std::byte*>(result.array().bytes()),
             size_t(result.num_elements() * size_of(result.dtype()))}};
  };
  impl_->finish(entry.lane, impl_->request(entry.lane, std::move(request)));
  return result;
}

DISTRIBUTE_INLINE void Client::assign_rows(Id id, int64_t begin, const Tensor& values) {
  const std::lock_guard lock(impl_->mutex);
  const auto& entry = impl_->entry(id);
  impl_->throw_if_lost();
  const bool fits = values.dtype() == entry.spec.dtype && values.shape().rank() >= 1 &&
                    values.shape().rank() == entry.spec.shape.rank() &&
                    values.shape() == entry.spec.shape.with(0, values.shape()[0]);
  if (!fits || begin < 0 || begin + values.shape()[0] > entry.spec.shape[0])
    throw InvalidArgumentError(concat("assign_rows: variable '", entry.spec.key, "' is ",
                                      to_string(entry.spec.shape), ", got ",
                                      to_string(values.shape()), " for row ", begin));
  impl_->send_values(id, LinkRequest::WriteRows,
                     net::ByteWriter().number(entry.handle).number(begin), values, nullptr);
}

DISTRIBUTE_INLINE std::vector<Tensor> Client::pull(std::span<const Id> ids) {
  const std::lock_guard lock(impl_->mutex);
  impl_->throw_if_lost();
  bool fresh = false;
  if (impl_->prefetched) {
    const auto pull = *std::exchange(impl_->prefetched, std::nullopt);
    fresh = !impl_->written && std::all_of(ids.begin(), ids.end(), [&](Id id) {
      return std::find(pull.ids.begin(), pull.ids.end(), id) != pull.ids.end();
    });
    impl_->finish_pull(pull);
  }
  if (!fresh) impl_->finish_pull(impl_->begin_pull(ids));
  std::vector<Tensor> values;
  for (const Id id : ids) values.push_back(impl_->entry(id).value);
  return values;
}

DISTRIBUTE_INLINE void Client::prefetch(std::span<const Id> ids) {
  const std::lock_guard lock(impl_->mutex);
  impl_->throw_if_lost();
  if (impl_->prefetched) impl_->finish_pull(*std::exchange(impl_->prefetched, std::nullopt));
  impl_->prefetched = impl_->begin_pull(ids);
  impl_->written = false;
  for (ServerLink* link : impl_->links) link->advance();
}

DISTRIBUTE_INLINE void Client::flush() {
  const std::lock_guard lock(impl_->mutex);
  impl_->throw_if_lost();
  std::vector<Impl::Answer> all;
  for (size_t lane = 0; lane < impl_->lanes.size(); ++lane)
    all.push_back(impl_->request(int(lane), {.type = LinkRequest::Flush}));
  impl_->drive(all, impl_->soon());
  for (size_t lane = 0; lane < impl_->lanes.size(); ++lane) {
    impl_->lanes[lane].under_way.clear();
    const auto background = std::exchange(impl_->lanes[lane].background, {});
    for (const auto& answer : background) impl_->finish(int(lane), answer);
  }
}

DISTRIBUTE_INLINE std::optional<BufferOffer> Client::place_gradient(Id variable) {
  const std::lock_guard lock(impl_->mutex);
  const auto& entry = impl_->entry(variable);
  if (entry.spec.dtype != DType::Float32 || entry.bytes() < 4096) return std::nullopt;
  return impl_->servers[size_t(entry.server)]->gradients->offer(entry.bytes());
}

DISTRIBUTE_INLINE void Client::Impl::wait_for_room(int index) {
  Lane& lane = lanes[size_t(index)];
  const auto done = [](const Answer& answer) { return answer->done; };
  while (!lane.under_way.empty() && done(lane.under_way.front())) lane.under_way.pop_front();
  while (lane.under_way.size() >= 2) {
    drive({lane.under_way.front()}, soon());
    lane.under_way.pop_front();
  }
  for (const Answer& answer : lane.background)
    if (answer->done) finish(index, answer);
  std::erase_if(lane.background, done);
}

DISTRIBUTE_INLINE void Client::Impl::begin_flush(
    int lane, std::vector<std::shared_ptr<GradientPlace>> places) {
  ServerLink::Request flush{.type = LinkRequest::Flush};
  flush.finish = [places = std::move(places)] {};
  lanes[size_t(lane)].under_way.push_back(request(lane, std::move(flush)));
}

DISTRIBUTE_INLINE void Client::Impl::add_floats(PushPart& part, const Tensor& values) {
  const Tensor plain = values.row_major();
  const int64_t count = plain.num_elements();
  const auto* floats = plain.data<float>().data();
  if (!options.bf16_on_wire) {
    part.request.bytes.push_back(std::as_bytes(std::span(floats, size_t(count))));
    part.request.keep.push_back(std::make_shared<Tensor>(plain));
    return;
  }
  const auto half = std::make_shared<std::vector<uint16_t>>(size_t(count));
  narrow(floats, half->data(), count);
  part.request.bytes.push_back(std::as_bytes(std::span(*half)));
  part.request.keep.push_back(half);
}

DISTRIBUTE_INLINE void Client::Impl::add_gradient(PushPart& part, Server& server,
                                                  const Entry& entry, const Tensor& gradient) {
  const Where inline_where = options.bf16_on_wire ? Where::Halved : Where::Inline;
  if (is_indexed_slices(gradient)) {
    const IndexedSlices slices = indexed_slices(gradient);
    part.updates.number(uint8_t(inline_where)).number(slices.indices.num_elements());
    part.request.bytes.push_back(std::as_bytes(slices.indices.data<int64_t>()));
    part.request.keep.push_back(std::make_shared<Tensor>(slices.indices));
    return add_floats(part, slices.values);
  }
  auto place = server.gradients->place_of(gradient);
  if (!place && entry.bytes() >= 4096 && (place = server.gradients->take(entry.bytes()))) {
    std::byte* to = place->arena->at(place->offset);
    if (gradient.layout())
      gradient.layout()->to_row_major(gradient.array().bytes(), to);
    else
      std::memcpy(to, gradient.array().bytes(), size_t(entry.bytes()));
  }
  part.updates.number(uint8_t(place ? Where::Arena : inline_where)).number(int64_t{-1});
  if (!place) return add_floats(part, gradient);
  part.updates.number(place->offset);
  part.places.push_back(std::move(place));
}

DISTRIBUTE_INLINE void Client::Impl::add_update(PushPart& part, const Push& push, size_t index) {
  const Update& update = push.updates[index];
  const Entry& entry = this->entry(update.variable);
  check("push", entry, update.gradient);
  part.updates.number(uint32_t(index)).number(entry.handle).number(uint8_t(update.slots.size()));
  for (const Id id : update.slots) {
    const Entry& slot = this->entry(id);
    if (slot.server != entry.server)
      throw InvalidArgumentError(concat("push: slot '", slot.spec.key, "' is on ps ", slot.server,
                                        ", its variable '", entry.spec.key, "' on ps ",
                                        entry.server));
    part.updates.number(slot.handle);
  }
  ++part.count;
  add_gradient(part, *servers[size_t(entry.server)], entry, update.gradient);
}

/// By lane.
DISTRIBUTE_INLINE std::map<int, Client::Impl::PushPart> Client::Impl::divide(const Push& push) {
  std::map<int, PushPart> parts;
  for (size_t u = 0; u < push.updates.size(); ++u)
    add_update(parts[entry(push.updates[u].variable).lane], push, u);
  if (push.counter >= 0) parts[entry(push.counter).lane];
  return parts;
}

DISTRIBUTE_INLINE std::map<int, Client::Impl::Answer> Client::Impl::stage(
    const Push& push, std::map<int, PushPart> parts, bool commit) {
  const int leader = push.counter >= 0 ? entry(push.counter).lane : -1;
  std::map<int, Answer> answers;
  for (auto& [lane, part] : parts) {
    net::ByteWriter& head = part.request.head;
    head.number(pushes).number(uint8_t(commit)).number(uint8_t(push.sync.has_value()));
    head.number(push.sync ? push.sync->local_step : push.local_step);
    head.number(lane == leader ? push.max_staleness : -1);
    head.number(lane == leader ? entry(push.counter).handle : -1);
    head.text(push.kernel).number(part.count).raw(part.updates.bytes());
    part.request.type = LinkRequest::Push;
    answers[lane] = request(lane, std::move(part.request));
  }
  return answers;
}

DISTRIBUTE_INLINE int64_t Client::push(const Push& push) {
  std::unique_lock lock(impl_->mutex);
  impl_->throw_if_lost();
  if ((push.sync || push.max_staleness >= 0) && push.counter < 0)
    throw InvalidArgumentError("push: synchronous pushes and max_staleness need a counter");
  auto parts = impl_->divide(push);
  std::vector<int> involved;
  std::map<int, std::vector<std::shared_ptr<GradientPlace>>> places;
  for (auto& [lane, part] : parts) {
    involved.push_back(lane);
    places[lane] = std::move(part.places);
  }
  for (const int lane : involved) impl_->wait_for_room(lane);
  ++impl_->pushes;
  impl_->written = true;
  const bool at_once = involved.size() == 1 && !push.sync;
  const auto answers = impl_->stage(push, std::move(parts), at_once);
  int64_t step = 0;
  for (const auto& [lane, answer] : answers) {
    const std::string head = impl_->finish(lane, answer);
    if (at_once) step = net::ByteReader(head).number<int64_t>();
  }
  if (push.sync) return impl_->synchronize(push, lock);
  if (!at_once) step = impl_->commit(push, involved);
  for (const int lane : involved) impl_->begin_flush(lane, std::move(places[lane]));
  for (ServerLink* link : impl_->links) link->advance();
  return step;
}

/// All servers have everything: from here on it takes a few bytes to each. The counter's server
/// decides first where the push may be dropped.
DISTRIBUTE_INLINE int64_t Client::Impl::commit(const Push& push, const std::vector<int>& involved) {
  const int leader = push.counter >= 0 ? entry(push.counter).lane : -1;
  const auto send = [&](int lane, LinkRequest type) {
    ServerLink::Request request{.type = type};
    request.head.number(pushes);
    return this->request(lane, std::move(request));
  };
  Answer decision;
  if (leader >= 0) decision = send(leader, LinkRequest::Commit);
  int64_t step = 0;
  const auto decide = [&] {
    const std::string head = finish(leader, decision);
    step = net::ByteReader(head).number<int64_t>();
  };
  if (push.max_staleness >= 0) decide();
  for (const int lane : involved)
    if (lane != leader)
      lanes[size_t(lane)].background.push_back(
          send(lane, step < 0 ? LinkRequest::Drop : LinkRequest::Commit));
  if (leader >= 0 && push.max_staleness < 0) decide();
  return step;
}

/// Waits for the token without the lock, and tells the other servers what it says about steps.
DISTRIBUTE_INLINE int64_t Client::Impl::synchronize(const Push& push,
                                                    std::unique_lock<std::recursive_mutex>& lock) {
  const auto deadline = soon();
  const int leader = entry(push.counter).server;
  net::ByteWriter request;
  request.number(deadline.left().count()).number(pushes).number(entry(push.counter).handle);
  request.number(int32_t(push.sync->replicas_to_aggregate));
  request.number(int32_t(push.sync->total_num_replicas));
  request.number(int32_t(push.sync->num_init_tokens)).number(push.sync->local_step);
  lock.unlock();
  const std::string token = call(leader, "ps/sync", request.bytes(), deadline);
  lock.lock();
  net::ByteReader reader(token);
  const auto step = reader.number<int64_t>();
  std::vector<std::pair<int, Answer>> told;
  for (int server = 0; server < int(servers.size()); ++server) {
    if (server == leader) continue;
    ServerLink::Request rounds{.type = LinkRequest::Rounds};
    rounds.head.raw(std::string_view(token).substr(sizeof(int64_t)));
    const int lane = servers[size_t(server)]->first_lane;
    told.emplace_back(lane, this->request(lane, std::move(rounds)));
  }
  for (const auto& [lane, answer] : told) finish(lane, answer);
  return step;
}

DISTRIBUTE_INLINE void Client::set(const std::string& key, const std::string& value) {
  impl_->call(0, "ps/set", net::ByteWriter().text(key).text(value).bytes());
}

DISTRIBUTE_INLINE std::string Client::wait(const std::string& key, net::Deadline deadline) {
  net::ByteWriter request;
  request.number(deadline.left().count()).text(key);
  return impl_->call(0, "ps/get", request.bytes(), deadline);
}

DISTRIBUTE_INLINE void Client::finish_job() {
  for (int server = 0; server < num_servers(); ++server) impl_->call(server, "ps/finish", "");
}

}  // namespace distribute::parameter_server
