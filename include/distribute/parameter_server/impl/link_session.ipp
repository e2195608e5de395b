#pragma once
#include <distribute/base/metrics.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/detail/host_identity.hpp>
#include <distribute/net/detail/descriptor_listener.hpp>
#include <distribute/net/job_token.hpp>
#include <distribute/net/socket.hpp>
#include <distribute/optim/serialization.hpp>
#include <distribute/parameter_server/detail/link_session.hpp>
#include <distribute/parameter_server/detail/push_reader.hpp>
#include <distribute/parameter_server/detail/server_metrics.hpp>
#include <distribute/parameter_server/detail/variable_requests.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

#include <unistd.h>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE LinkSession::LinkSession(LinkContext context, std::shared_ptr<rpc::Peer> peer,
                                           net::Socket socket)
    : context_(context), peer_(std::move(peer)), stream_(std::move(socket)) {
  on_lost_ = peer_->on_lost([this] { stop(); });
}

DISTRIBUTE_INLINE LinkSession::~LinkSession() { peer_->remove_on_lost(on_lost_); }

DISTRIBUTE_INLINE void LinkSession::run() {
  try {
    while (serve_one()) {
    }
  } catch (const Error&) {  // the connection is over
  }
  staged_.clear();
  lent_.clear();
  stop();
}

/// Returns false when the connection is closed.
DISTRIBUTE_INLINE bool LinkSession::serve_one() {
  LinkRequest request{};
  std::string bytes;
  if (!stream_.next(request, bytes)) return false;
  const auto head = net::parse_message<LinkHead>(bytes, "head of a request");
  if (!head.ok()) return false;
  stream_.expect(head->bytes);
  StatusCode code = StatusCode::Ok;
  std::string message;
  try {
    release(head->released);
    count(request);
    handle(request, head->request);
  } catch (const Error& error) {
    code = error.code();
    message = error.what();
  } catch (const std::exception& error) {
    code = StatusCode::Internal;
    message = error.what();
  }
  if (stream_.answered()) return code == StatusCode::Ok;
  stream_.discard_rest();
  stream_.answer_error(code == StatusCode::Ok ? StatusCode::Internal : code, message);
  return true;
}

/// Counts requests; only those that have a name get a cell.
DISTRIBUTE_INLINE void LinkSession::count(LinkRequest request) {
  if (request < LinkRequest::Share || request > LinkRequest::Flush) return;
  monitoring::CounterCell*& cell = counted_[request];
  if (!cell) cell = &server_metrics().requests.get_cell({name_of(request)});
  cell->increment_by();
}

DISTRIBUTE_INLINE void LinkSession::handle(LinkRequest request, std::string_view body) {
  const auto get = [&]<typename T>(T&& message) -> const T& {
    throw_if_error(net::parse_fields(body, name_of(request), net::FieldsRef(message)));
    return message;
  };
  const auto at = [&](int64_t handle) -> StoredVariable& { return context_.store.at(handle); };
  switch (request) {
    case LinkRequest::Share: return share(get(ShareRequest()));
    case LinkRequest::Pull: return pull(get(PullRequest()));
    case LinkRequest::Assign: return assign(stream_, at(get(VariableRequest()).variable));
    case LinkRequest::AssignAdd: {
      const auto add = get(AddRequest());
      return assign_add(stream_, at(add.variable), add.origin, context_.applied);
    }
    case LinkRequest::Fill: {
      const auto fill = get(FillRequest());
      return parameter_server::fill(stream_, at(fill.variable), fill.number);
    }
    case LinkRequest::ReadRows: {
      const auto rows = get(RowsRequest());
      return read_rows(stream_, at(rows.variable), rows);
    }
    case LinkRequest::WriteRows: {
      const auto rows = get(RowsRequest());
      return write_rows(stream_, at(rows.variable), rows);
    }
    case LinkRequest::Gather: {
      const auto rows = get(RowsRequest());
      return gather(stream_, at(rows.variable), rows);
    }
    case LinkRequest::Optimizer: return register_optimizer(get(OptimizerMessage()));
    case LinkRequest::Push: return push(get(PushMessage()));
    case LinkRequest::Commit: return commit(get(StagedRequest()));
    case LinkRequest::Drop: staged_.erase(get(StagedRequest()).number); return stream_.answer();
    case LinkRequest::Rounds: return apply_rounds(get(std::vector<SyncRound>()));
    case LinkRequest::Flush: return stream_.answer();
  }
  throw InvalidArgumentError(str_cat("unknown request ", int(request)));
}

/// Releases blocks that the client has finished reading.
DISTRIBUTE_INLINE void LinkSession::release(const std::vector<ReleasedBlock>& blocks) {
  for (const auto& [variable, offset] : blocks) {
    const auto found = lent_.find({variable, offset});
    if (found != lent_.end()) lent_.erase(found);
  }
}

DISTRIBUTE_INLINE void LinkSession::share(const ShareRequest& request) {
  const std::string none = net::encode_message(ShareAnswer());
  if (!context_.options.shared_memory || !context_.store.arena() || request.host.empty() ||
      request.host != host_identity())
    return stream_.answer(none);
  // All users see the names of such sockets: nothing of this process may show in it.
  const auto random = net::random_number();
  if (!random.ok()) return stream_.answer(none);
  const std::string name = str_cat("distribute-ps-", ::getpid(), "-", *random);
  const auto listener = net::DescriptorListener::open(name);
  if (!listener.ok()) return stream_.answer(none);
  stream_.answer(net::encode_message(ShareAnswer{name}));
  const auto deadline = net::Deadline::after_seconds(10);
  auto client = listener->accept(deadline);
  if (!client.ok() || !net::send_descriptor(*client, context_.store.arena()->descriptor()).ok())
    return;
  const auto descriptor = net::receive_descriptor(*client, deadline);
  if (descriptor.ok()) client_arena_ = SharedArena::attach(*descriptor);
  const std::byte done{client_arena_ ? uint8_t{1} : uint8_t{0}};
  (void)client->write({&done, 1}, deadline);
}

DISTRIBUTE_INLINE void LinkSession::pull(const PullRequest& request) {
  std::vector<PulledValue> heads;
  std::vector<Outgoing> values;
  uint64_t bytes = 0;
  for (const KnownVersion& known : request.variables) {
    StoredVariable& variable = context_.store.at(known.variable);
    const uint64_t version = variable.version();
    PulledValue& head = heads.emplace_back();
    if (version == known.version) continue;
    Outgoing value{&variable, variable.snapshot(), false};
    const bool pinned = variable.has_snapshots();
    head.version = pinned ? value.snapshot.version() : version;
    if (client_arena_ && pinned && value.snapshot.offset() >= 0) {
      head.where = Where::Arena;
      head.offset = value.snapshot.offset();
      lent_.emplace(std::pair(known.variable, head.offset), std::move(value.snapshot));
      continue;
    }
    value.halved = request.halve && variable.dtype() == DType::Float32;
    head.where = value.halved ? Where::Halved : Where::Inline;
    bytes += uint64_t(variable.bytes()) / (value.halved ? 2 : 1);
    values.push_back(std::move(value));
  }
  stream_.send_head(net::encode_message(heads), bytes);
  for (const Outgoing& value : values) send(value);
}

DISTRIBUTE_INLINE void LinkSession::register_optimizer(const OptimizerMessage& message) {
  optimizers_[message.id] = optim::deserialize(message.optimizer);
  stream_.answer();
}

DISTRIBUTE_INLINE const optim::Optimizer& LinkSession::optimizer(uint32_t id) const {
  const auto known = optimizers_.find(id);
  if (known != optimizers_.end()) return *known->second;
  throw FailedPreconditionError(
      str_cat("push: no optimizer is registered as ", id, " on this connection"));
}

DISTRIBUTE_INLINE void LinkSession::push(const PushMessage& message) {
  StoredVariable* counter = message.counter >= 0 ? &context_.store.at(message.counter) : nullptr;
  StagedPush push{.id = {peer_->name().name(), peer_->incarnation(), message.number},
                  .origin = message.origin,
                  .kernel = optim::make_update_kernel(optimizer(message.optimizer), message.step),
                  .local_step = message.local_step};
  // Pushes of a synchronous step wait for each other, so they must not wait for room.
  if (!message.synchronous) push.memory.push_back(context_.budget.take(int64_t(stream_.unread())));
  PushReader reader(stream_, context_.store, client_arena_, message, push);
  for (const UpdateMessage& update : message.updates) reader.read_update(update);
  if (stream_.unread() != 0)
    throw InvalidArgumentError("push: more bytes have come than its gradients have");
  if (message.synchronous) {
    context_.rounds.stage(std::move(push));
    return stream_.answer();
  }
  if (message.commit_now) return commit(std::move(push), counter, message.max_staleness);
  staged_.emplace(message.number, Staged{std::move(push), counter, message.max_staleness});
  stream_.answer();
}

DISTRIBUTE_INLINE void LinkSession::commit(const StagedRequest& request) {
  const auto node = staged_.extract(request.number);
  if (node.empty()) throw FailedPreconditionError("commit: the push is not staged");
  Staged& staged = node.mapped();
  commit(std::move(staged.push), staged.counter, staged.max_staleness);
}

/// Returns the counter's new value; nullopt when the gradient is too old. A repeated push does not
/// count.
DISTRIBUTE_INLINE std::optional<int64_t> LinkSession::count_step(const StagedPush& push,
                                                                 StoredVariable& counter,
                                                                 int64_t max_staleness) {
  int64_t step = 0;
  counter.read(0, std::as_writable_bytes(std::span(&step, 1)));
  const bool old = max_staleness >= 0 && step - push.local_step > max_staleness;
  if (old && !context_.applied.contains(push.origin, &counter)) return std::nullopt;
  if (!context_.applied.add(push.origin, &counter)) return step;
  const int64_t one = 1;
  counter.add(reinterpret_cast<const std::byte*>(&one), reinterpret_cast<std::byte*>(&step));
  return step;
}

/// Returns the number of updates dropped.
DISTRIBUTE_INLINE size_t LinkSession::drop_repeated(StagedPush& push) {
  std::map<const StoredVariable*, int> parts;
  return std::erase_if(push.updates, [&](const StoredUpdate& update) {
    return !context_.applied.add(push.origin, update.variable, parts[update.variable]++);
  });
}

/// Answers before it applies, so that the client continues meanwhile. A repeated push also waits
/// until the first one, of a worker that is lost by now, has been applied: then the client's flush,
/// with which its function ends, means the same for both.
DISTRIBUTE_INLINE void LinkSession::commit(StagedPush push, StoredVariable* counter,
                                           int64_t max_staleness) {
  std::optional<AppliedUpdates::Applying> applying(std::in_place, context_.applied, push.origin);
  const auto step = counter ? count_step(push, *counter, max_staleness) : 0;
  stream_.answer(net::encode_message(StepAnswer{step.value_or(-1)}));
  if (!step) return server_metrics().stale_pushes.increment_by();
  const size_t repeated = drop_repeated(push);
  push.apply(context_.options.use_locking);
  applying.reset();
  if (repeated > 0) context_.applied.wait_until_applied(push.origin);
  ServerMetrics& metrics = server_metrics();
  (repeated > 0 ? metrics.repeated_pushes : metrics.applied_pushes).increment_by();
}

DISTRIBUTE_INLINE void LinkSession::apply_rounds(const std::vector<SyncRound>& rounds) {
  context_.rounds.apply(rounds);
  for (const SyncRound& round : rounds)
    server_metrics().applied_pushes.increment_by(int64_t(round.pushes.size()));
  stream_.answer();
}

DISTRIBUTE_INLINE void LinkSession::send(const Outgoing& value) {
  const int64_t bytes = value.variable->bytes();
  const int64_t element = size_of(value.variable->dtype());
  const bool whole = value.snapshot.version() != 0;
  if (whole && !value.halved) return stream_.send({value.snapshot.data(), size_t(bytes)});
  if (whole) return stream_.send_halved(value.snapshot.data(), bytes / element);
  std::vector<std::byte> piece(size_t(std::min(kPieceBytes, bytes)));
  for (int64_t done = 0; done < bytes; done += kPieceBytes) {
    const auto part = std::span(piece).first(size_t(std::min(kPieceBytes, bytes - done)));
    value.variable->read(done, part);
    if (value.halved)
      stream_.send_halved(part.data(), int64_t(part.size()) / element);
    else
      stream_.send(part);
  }
}

}  // namespace distribute::parameter_server
