#pragma once
#include <distribute/base/metrics.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/cluster/detail/host_identity.hpp>
#include <distribute/net/bytes.hpp>
#include <distribute/net/detail/descriptor_listener.hpp>
#include <distribute/net/job_token.hpp>
#include <distribute/net/socket.hpp>
#include <distribute/optim/serialization.hpp>
#include <distribute/parameter_server/detail/link_session.hpp>
#include <distribute/parameter_server/detail/push_reader.hpp>
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

/// False when the connection is over.
DISTRIBUTE_INLINE bool LinkSession::serve_one() {
  LinkRequest request{};
  std::string bytes;
  if (!stream_.next(request, bytes)) return false;
  net::ByteReader head(bytes);
  stream_.expect(head.number<uint64_t>());
  StatusCode code = StatusCode::Ok;
  std::string message;
  try {
    release(head);
    count(request);
    handle(request, head);
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

/// Only requests that have a name get a cell.
DISTRIBUTE_INLINE void LinkSession::count(LinkRequest request) {
  if (request < LinkRequest::Share || request > LinkRequest::Flush) return;
  monitoring::CounterCell*& cell = counted_[request];
  if (!cell) cell = &monitoring::metrics().server_requests.get_cell({name_of(request)});
  cell->increment_by();
}

DISTRIBUTE_INLINE void LinkSession::handle(LinkRequest request, net::ByteReader& head) {
  const auto variable = [&]() -> StoredVariable& {
    return context_.store.at(head.number<int64_t>());
  };
  switch (request) {
    case LinkRequest::Share: return share(head);
    case LinkRequest::Pull: return pull(head);
    case LinkRequest::Assign: return assign(stream_, variable());
    case LinkRequest::AssignAdd: return assign_add(stream_, variable(), head, context_.applied);
    case LinkRequest::Fill: return fill(stream_, variable(), head);
    case LinkRequest::ReadRows: return read_rows(stream_, variable(), head);
    case LinkRequest::WriteRows: return write_rows(stream_, variable(), head);
    case LinkRequest::Gather: return gather(stream_, variable(), head);
    case LinkRequest::Push: return push(head);
    case LinkRequest::Commit: return commit(head);
    case LinkRequest::Drop: staged_.erase(head.number<int64_t>()); return stream_.answer();
    case LinkRequest::Rounds: return apply_rounds(head);
    case LinkRequest::Flush: return stream_.answer();
  }
  throw InvalidArgumentError(str_cat("unknown request ", int(request)));
}

/// The client has finished reading these blocks.
DISTRIBUTE_INLINE void LinkSession::release(net::ByteReader& head) {
  const auto count = head.number<uint32_t>();
  for (uint32_t i = 0; i < count && head.ok(); ++i) {
    const auto variable = head.number<int64_t>();
    const auto found = lent_.find({variable, head.number<int64_t>()});
    if (found != lent_.end()) lent_.erase(found);
  }
}

DISTRIBUTE_INLINE void LinkSession::share(net::ByteReader& head) {
  const std::string host(head.text());
  if (!context_.options.shared_memory || !context_.store.arena() || host.empty() ||
      host != host_identity())
    return stream_.answer(net::ByteWriter().text(""));
  // All users see the names of such sockets: nothing of this process may show in it.
  const auto random = net::random_bytes(sizeof(uint64_t));
  if (!random.ok()) return stream_.answer(net::ByteWriter().text(""));
  const std::string name =
      str_cat("distribute-ps-", ::getpid(), "-", net::ByteReader(*random).number<uint64_t>());
  const auto listener = net::DescriptorListener::open(name);
  if (!listener.ok()) return stream_.answer(net::ByteWriter().text(""));
  stream_.answer(net::ByteWriter().text(name));
  const auto deadline = net::Deadline::after_seconds(10);
  auto client = listener->accept(deadline);
  if (!client.ok() || !net::send_descriptor(*client, context_.store.arena()->descriptor()).ok())
    return;
  const auto descriptor = net::receive_descriptor(*client, deadline);
  if (descriptor.ok()) client_arena_ = SharedArena::attach(*descriptor);
  const std::byte done{client_arena_ ? uint8_t{1} : uint8_t{0}};
  (void)client->write({&done, 1}, deadline);
}

DISTRIBUTE_INLINE void LinkSession::pull(net::ByteReader& head) {
  const bool halve = head.number<uint8_t>() != 0;
  const auto count = head.number<uint32_t>();
  net::ByteWriter out;
  std::vector<Outgoing> values;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const auto handle = head.number<int64_t>();
    const auto known = head.number<uint64_t>();
    StoredVariable& variable = context_.store.at(handle);
    const uint64_t version = variable.version();
    if (version == known) {
      out.number(uint8_t(Where::Unchanged));
      continue;
    }
    Outgoing value{&variable, variable.snapshot(), false};
    const bool pinned = variable.has_snapshots();
    if (client_arena_ && pinned && value.snapshot.offset() >= 0) {
      const int64_t offset = value.snapshot.offset();
      out.number(uint8_t(Where::Arena)).number(value.snapshot.version()).number(offset);
      lent_.emplace(std::pair(handle, offset), std::move(value.snapshot));
      continue;
    }
    value.halved = halve && variable.dtype() == DType::Float32;
    out.number(uint8_t(value.halved ? Where::Halved : Where::Inline));
    out.number(pinned ? value.snapshot.version() : version);
    bytes += uint64_t(variable.bytes()) / (value.halved ? 2 : 1);
    values.push_back(std::move(value));
  }
  stream_.send_head(out, bytes);
  for (const Outgoing& value : values) send(value);
}

DISTRIBUTE_INLINE void LinkSession::push(net::ByteReader& head) {
  Staged staged{{.kernel = UpdateKernel([](auto&&...) {})}, nullptr, -1};
  StagedPush& push = staged.push;
  push.id = {peer_->name().name(), peer_->incarnation(), head.number<int64_t>()};
  const bool commit_now = head.number<uint8_t>() != 0, synchronous = head.number<uint8_t>() != 0;
  push.local_step = head.number<int64_t>();
  staged.max_staleness = head.number<int64_t>();
  const auto counter = head.number<int64_t>();
  if (counter >= 0) staged.counter = &context_.store.at(counter);
  push.origin = read_origin(head);
  push.kernel = optim::make_update_kernel(std::string(head.text()));
  const auto count = head.number<uint32_t>();
  // Those of a synchronous step wait for each other, so they must not wait for room.
  if (!synchronous) push.memory.push_back(context_.budget.take(int64_t(stream_.unread())));
  PushReader reader(stream_, context_.store, client_arena_, push, synchronous);
  for (uint32_t i = 0; i < count; ++i) reader.read_update(head);
  if (!head.finished() || stream_.unread() != 0)
    throw InvalidArgumentError("push: a damaged message");
  if (synchronous) {
    context_.rounds.stage(std::move(push));
    return stream_.answer();
  }
  if (commit_now) return commit(std::move(push), staged.counter, staged.max_staleness);
  staged_.emplace(push.id.number, std::move(staged));
  stream_.answer();
}

DISTRIBUTE_INLINE void LinkSession::commit(net::ByteReader& head) {
  const auto node = staged_.extract(head.number<int64_t>());
  if (node.empty()) throw FailedPreconditionError("commit: the push is not staged");
  Staged& staged = node.mapped();
  commit(std::move(staged.push), staged.counter, staged.max_staleness);
}

/// The counter's new value; nothing when the gradient is too old. A repeated push does not count.
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

/// Gives how many.
DISTRIBUTE_INLINE size_t LinkSession::drop_repeated(StagedPush& push) {
  std::map<const StoredVariable*, int> parts;
  return std::erase_if(push.updates, [&](const StoredUpdate& update) {
    return !context_.applied.add(push.origin, update.variable, parts[update.variable]++);
  });
}

/// Answers first: the client goes on while the update is applied. A repeated push also waits until
/// the first one, of a worker that is lost by now, has been applied: then the client's flush, with
/// which its function ends, means the same for both.
DISTRIBUTE_INLINE void LinkSession::commit(StagedPush push, StoredVariable* counter,
                                           int64_t max_staleness) {
  std::optional<AppliedUpdates::Applying> applying(std::in_place, context_.applied, push.origin);
  const auto step = counter ? count_step(push, *counter, max_staleness) : 0;
  stream_.answer(net::ByteWriter().number(step.value_or(-1)));
  if (!step) return monitoring::metrics().stale_pushes.increment_by();
  const size_t repeated = drop_repeated(push);
  push.apply(context_.options.use_locking);
  applying.reset();
  if (repeated > 0) context_.applied.wait_until_applied(push.origin);
  auto& metrics = monitoring::metrics();
  (repeated > 0 ? metrics.repeated_pushes : metrics.applied_pushes).increment_by();
}

DISTRIBUTE_INLINE void LinkSession::apply_rounds(net::ByteReader& head) {
  std::vector<SyncRound> rounds(std::min<uint32_t>(head.number<uint32_t>(), 100'000));
  for (SyncRound& round : rounds) {
    round.number = head.number<int64_t>();
    round.step = head.number<int64_t>();
    round.pushes.resize(std::min<uint32_t>(head.number<uint32_t>(), 100'000));
    for (PushId& id : round.pushes) {
      id.task = head.text();
      id.incarnation = head.number<uint64_t>();
      id.number = head.number<int64_t>();
    }
  }
  if (!head.finished()) throw InvalidArgumentError("a damaged list of steps");
  context_.rounds.apply(rounds);
  for (const SyncRound& round : rounds)
    monitoring::metrics().applied_pushes.increment_by(int64_t(round.pushes.size()));
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
