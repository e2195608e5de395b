#pragma once
#include <distribute/base/metrics.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/host_identity.hpp>
#include <distribute/net/descriptor_door.hpp>
#include <distribute/net/frame.hpp>
#include <distribute/optim/serialization.hpp>
#include <distribute/parameter_server/link_session.hpp>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include <unistd.h>

namespace distribute::parameter_server {

/// The monitor ends the connection of a lost client; nothing else does.
DISTRIBUTE_INLINE net::Deadline for_ever() { return net::Deadline::after_seconds(1e8); }

DISTRIBUTE_INLINE std::shared_ptr<void> StagingBudget::take(int64_t bytes) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return used_ == 0 || used_ + bytes <= most_; });
  used_ += bytes;
  return std::shared_ptr<void>(nullptr, [this, bytes](void*) {
    const std::lock_guard guard(mutex_);
    used_ -= bytes;
    changed_.notify_all();
  });
}

DISTRIBUTE_INLINE LinkSession::LinkSession(LinkContext context, std::shared_ptr<rpc::Peer> peer,
                                           net::Socket socket)
    : context_(context),
      peer_(std::move(peer)),
      socket_(std::make_unique<net::Socket>(std::move(socket))) {
  on_lost_ = peer_->on_lost([this] { stop(); });
}

DISTRIBUTE_INLINE void LinkSession::stop() const { socket_->shutdown(); }

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
  const auto frame = net::read_frame(*socket_, kMostHeadBytes, for_ever());
  if (!frame.ok()) return false;
  monitoring::metrics().parameter_server_tcp.received.increment_by(
      int64_t(net::kFrameHeaderBytes + frame->payload.size()));
  net::ByteReader head(frame->payload);
  unread_ = head.number<uint64_t>();
  answered_ = false;
  StatusCode code = StatusCode::Ok;
  std::string message;
  try {
    release(head);
    count(LinkRequest(frame->type));
    handle(LinkRequest(frame->type), head);
  } catch (const Error& error) {
    code = error.code();
    message = error.what();
  } catch (const std::exception& error) {
    code = StatusCode::Internal;
    message = error.what();
  }
  if (answered_) return code == StatusCode::Ok;
  discard(unread_);
  answer_error(code == StatusCode::Ok ? StatusCode::Internal : code, message);
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
  switch (request) {
    case LinkRequest::Share: return share(head);
    case LinkRequest::Pull: return pull(head);
    case LinkRequest::Assign: return assign(head, false);
    case LinkRequest::AssignAdd: return assign(head, true);
    case LinkRequest::Fill: return fill(head);
    case LinkRequest::ReadRows: return read_rows(head);
    case LinkRequest::WriteRows: return write_rows(head);
    case LinkRequest::Gather: return gather(head);
    case LinkRequest::Push: return push(head);
    case LinkRequest::Commit: return commit(head);
    case LinkRequest::Drop: staged_.erase(head.number<int64_t>()); return answer();
    case LinkRequest::Rounds: return apply_rounds(head);
    case LinkRequest::Flush: return answer();
  }
  throw InvalidArgumentError(concat("unknown request ", int(request)));
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
    return answer(net::ByteWriter().text(""));
  char name[100];
  std::snprintf(name, sizeof name, "distribute-ps-%d-%p", int(::getpid()),
                static_cast<void*>(this));
  const auto door = net::DescriptorDoor::open(name);
  if (!door.ok()) return answer(net::ByteWriter().text(""));
  answer(net::ByteWriter().text(name));
  const auto deadline = net::Deadline::after_seconds(10);
  auto guest = door->admit(deadline);
  if (!guest.ok() || !net::send_descriptor(*guest, context_.store.arena()->descriptor()).ok())
    return;
  const auto descriptor = net::receive_descriptor(*guest, deadline);
  if (descriptor.ok()) client_arena_ = SharedArena::attach(*descriptor);
  const std::byte done{client_arena_ ? uint8_t{1} : uint8_t{0}};
  (void)guest->write({&done, 1}, deadline);
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
  send_head(out, bytes);
  for (const Outgoing& value : values) send(value);
}

DISTRIBUTE_INLINE void LinkSession::assign(net::ByteReader& head, bool add) {
  StoredVariable& variable = context_.store.at(head.number<int64_t>());
  if (unread_ != uint64_t(variable.bytes()))
    throw InvalidArgumentError(concat("assign: variable '", variable.key(), "' has ",
                                      variable.bytes(), " bytes, got ", unread_));
  const Buffer values(variable.bytes(), Device{});
  auto* data = static_cast<std::byte*>(values.data());
  receive({data, size_t(variable.bytes())});
  if (!add) {
    variable.assign(data);
    return answer();
  }
  const Buffer result(variable.bytes(), Device{});
  auto* sum = static_cast<std::byte*>(result.data());
  variable.add(data, sum);
  answer({}, {sum, size_t(variable.bytes())});
}

DISTRIBUTE_INLINE void LinkSession::fill(net::ByteReader& head) {
  StoredVariable& variable = context_.store.at(head.number<int64_t>());
  variable.fill(std::bit_cast<double>(head.number<uint64_t>()));
  answer();
}

DISTRIBUTE_INLINE void LinkSession::read_rows(net::ByteReader& head) {
  StoredVariable& variable = context_.store.at(head.number<int64_t>());
  const int64_t begin = head.number<int64_t>() * variable.row_bytes();
  const int64_t bytes = head.number<int64_t>() * variable.row_bytes();
  if (begin < 0 || bytes < 0 || begin > variable.bytes() - bytes)
    throw InvalidArgumentError(
        concat("read_rows: variable '", variable.key(), "' has ", variable.rows(), " rows only"));
  std::vector<std::byte> piece(size_t(std::min(kPieceBytes, bytes)));
  send_head({}, uint64_t(bytes));
  for (int64_t done = 0; done < bytes; done += kPieceBytes) {
    const auto part = std::span(piece).first(size_t(std::min(kPieceBytes, bytes - done)));
    variable.read(begin + done, part);
    send(part);
  }
}

DISTRIBUTE_INLINE void LinkSession::write_rows(net::ByteReader& head) {
  StoredVariable& variable = context_.store.at(head.number<int64_t>());
  int64_t at = head.number<int64_t>() * variable.row_bytes();
  if (at < 0 || int64_t(unread_) > variable.bytes() - at)
    throw InvalidArgumentError(
        concat("assign_rows: variable '", variable.key(), "' has ", variable.rows(), " rows only"));
  std::vector<std::byte> piece(size_t(std::min(kPieceBytes, int64_t(unread_))));
  while (unread_ > 0) {
    const auto part = std::span(piece).first(std::min(piece.size(), size_t(unread_)));
    receive(part);
    variable.write(at, part);
    at += int64_t(part.size());
  }
  answer();
}

DISTRIBUTE_INLINE void LinkSession::gather(net::ByteReader& head) {
  StoredVariable& variable = context_.store.at(head.number<int64_t>());
  const auto count = head.number<int64_t>();
  if (count < 0 || uint64_t(count) * sizeof(int64_t) != unread_)
    throw InvalidArgumentError("gather: number of rows and bytes do not fit");
  std::vector<int64_t> rows(static_cast<size_t>(count));
  receive(std::as_writable_bytes(std::span(rows)));
  const Buffer values(count * variable.row_bytes(), Device{});
  auto* data = static_cast<std::byte*>(values.data());
  variable.gather(rows, data);
  answer({}, {data, size_t(values.bytes())});
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
  push.kernel = optim::make_update_kernel(std::string(head.text()));
  const auto count = head.number<uint32_t>();
  // Those of a synchronous step wait for each other, so they must not wait for room.
  if (!synchronous) push.memory.push_back(context_.budget.take(int64_t(unread_)));
  for (uint32_t i = 0; i < count; ++i) push.updates.push_back(read_update(head, push, synchronous));
  if (!head.finished() || unread_ != 0) throw InvalidArgumentError("push: a damaged message");
  if (synchronous) {
    context_.rounds.stage(std::move(push));
    return answer();
  }
  if (commit_now) return commit(std::move(push), staged.counter, staged.max_staleness);
  staged_.emplace(push.id.number, std::move(staged));
  answer();
}

DISTRIBUTE_INLINE StoredUpdate LinkSession::read_update(net::ByteReader& head, StagedPush& push,
                                                        bool synchronous) {
  StoredUpdate update;
  update.index = head.number<uint32_t>();
  update.variable = &context_.store.at(head.number<int64_t>());
  const auto slots = head.number<uint8_t>();
  if (slots > 8) throw InvalidArgumentError("push: more than 8 slots");
  for (int s = 0; s < slots; ++s)
    update.slots.push_back(&context_.store.at(head.number<int64_t>()));
  for (const StoredVariable* slot : update.slots)
    if (slot->shape() != update.variable->shape() || slot->dtype() != DType::Float32)
      throw InvalidArgumentError(concat("push: slot '", slot->key(), "' is ",
                                        to_string(slot->shape()), ", its variable ",
                                        to_string(update.variable->shape())));
  if (update.variable->dtype() != DType::Float32)
    throw InvalidArgumentError(
        concat("push: variable '", update.variable->key(), "' is not float32"));
  read_gradient(head, update, push, synchronous);
  return update;
}

DISTRIBUTE_INLINE void LinkSession::read_gradient(net::ByteReader& head, StoredUpdate& update,
                                                  StagedPush& push, bool synchronous) {
  const auto where = Where(head.number<uint8_t>());
  const auto rows = head.number<int64_t>();  // -1: dense
  const StoredVariable& variable = *update.variable;
  if (rows < 0 && where == Where::Arena) {
    const auto offset = head.number<int64_t>();
    if (!client_arena_ || offset < 0 || offset % 64 != 0 ||
        offset > client_arena_->bytes() - variable.bytes())
      throw InvalidArgumentError("push: a gradient outside of the shared memory");
    update.gradient = reinterpret_cast<const float*>(client_arena_->at(offset));
    if (!synchronous) return push.memory.push_back(client_arena_);
    // The client does not know how long a gradient waits for the others.
    const auto copy = std::make_shared<Buffer>(variable.bytes(), Device{});
    std::memcpy(copy->data(), update.gradient, size_t(variable.bytes()));
    update.gradient = static_cast<const float*>(copy->data());
    push.memory.push_back(copy);
    return;
  }
  if (rows < 0) {
    update.gradient = receive_floats(variable.shape().num_elements(), where, push);
    return;
  }
  update.sparse = true;
  const int64_t width = variable.row_bytes() / int64_t(sizeof(float));
  if (uint64_t(rows) * sizeof(int64_t) > unread_) throw InvalidArgumentError("push: bad rows");
  const auto numbers = std::make_shared<std::vector<int64_t>>(size_t(rows));
  receive(std::as_writable_bytes(std::span(*numbers)));
  push.memory.push_back(numbers);
  update.rows = *numbers;
  for (const int64_t row : *numbers)
    if (row < 0 || row >= variable.rows())
      throw InvalidArgumentError(concat("push: variable '", variable.key(), "' has ",
                                        variable.rows(), " rows, a gradient is for row ", row));
  update.gradient = receive_floats(rows * width, where, push);
}

DISTRIBUTE_INLINE const float* LinkSession::receive_floats(int64_t count, Where where,
                                                           StagedPush& push) {
  const auto values = std::make_shared<Buffer>(count * int64_t(sizeof(float)), Device{});
  auto* floats = static_cast<float*>(values->data());
  push.memory.push_back(values);
  if (where == Where::Inline) {
    receive({static_cast<std::byte*>(values->data()), size_t(values->bytes())});
    return floats;
  }
  if (where != Where::Halved) throw InvalidArgumentError("push: a gradient that is nowhere");
  constexpr int64_t kPart = 65536;
  std::vector<uint16_t> part(size_t(std::min(kPart, count)));
  for (int64_t done = 0; done < count; done += kPart) {
    const int64_t size = std::min(kPart, count - done);
    receive(std::as_writable_bytes(std::span(part).first(size_t(size))));
    widen(part.data(), floats + done, size);
  }
  return floats;
}

DISTRIBUTE_INLINE void LinkSession::commit(net::ByteReader& head) {
  const auto node = staged_.extract(head.number<int64_t>());
  if (node.empty()) throw FailedPreconditionError("commit: the push is not staged");
  Staged& staged = node.mapped();
  commit(std::move(staged.push), staged.counter, staged.max_staleness);
}

/// Answers first: the client goes on while the update is applied.
DISTRIBUTE_INLINE void LinkSession::commit(StagedPush push, StoredVariable* counter,
                                           int64_t max_staleness) {
  int64_t step = 0;
  if (counter && max_staleness >= 0) {
    counter->read(0, std::as_writable_bytes(std::span(&step, 1)));
    if (step - push.local_step > max_staleness) {
      monitoring::metrics().stale_pushes.increment_by();
      return answer(net::ByteWriter().number(int64_t{-1}));
    }
  }
  if (counter) {
    const int64_t one = 1;
    counter->add(reinterpret_cast<const std::byte*>(&one), reinterpret_cast<std::byte*>(&step));
  }
  answer(net::ByteWriter().number(step));
  push.apply(context_.options.use_locking);
  monitoring::metrics().applied_pushes.increment_by();
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
  answer();
}

DISTRIBUTE_INLINE void LinkSession::receive(std::span<std::byte> out) {
  monitoring::metrics().parameter_server_tcp.received.increment_by(int64_t(out.size()));
  if (out.size() > unread_) throw InvalidArgumentError("a message is shorter than it says");
  unread_ -= out.size();
  for (; !out.empty(); out = out.subspan(std::min(out.size(), kCallBytes)))
    throw_if_error(socket_->read(out.first(std::min(out.size(), kCallBytes)), for_ever()));
}

DISTRIBUTE_INLINE void LinkSession::discard(uint64_t bytes) {
  monitoring::metrics().parameter_server_tcp.received.increment_by(int64_t(bytes));
  std::vector<std::byte> piece(size_t(std::min<uint64_t>(bytes, 1 << 20)));
  while (bytes > 0) {
    const size_t size = size_t(std::min<uint64_t>(bytes, piece.size()));
    throw_if_error(socket_->read(std::span(piece).first(size), for_ever()));
    bytes -= size;
  }
}

DISTRIBUTE_INLINE void LinkSession::send(std::span<const std::byte> bytes) {
  monitoring::metrics().parameter_server_tcp.sent.increment_by(int64_t(bytes.size()));
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), kCallBytes)))
    throw_if_error(socket_->write(bytes.first(std::min(bytes.size(), kCallBytes)), for_ever()));
}

DISTRIBUTE_INLINE void LinkSession::send_head(const net::ByteWriter& head, uint64_t bytes) {
  net::ByteWriter all;
  all.number(bytes).number(int32_t(StatusCode::Ok)).text("");
  const std::string frame = net::encode_frame(kLinkAnswer, all.take() + head.bytes());
  answered_ = true;
  send(std::as_bytes(std::span(frame)));
}

DISTRIBUTE_INLINE void LinkSession::answer(const net::ByteWriter& head,
                                           std::span<const std::byte> bytes) {
  send_head(head, bytes.size());
  send(bytes);
}

DISTRIBUTE_INLINE void LinkSession::answer_error(StatusCode code, const std::string& message) {
  net::ByteWriter all;
  all.number(uint64_t{0}).number(int32_t(code)).text(message);
  const std::string frame = net::encode_frame(kLinkAnswer, all.take());
  send(std::as_bytes(std::span(frame)));
}

DISTRIBUTE_INLINE void LinkSession::send(const Outgoing& value) {
  const int64_t bytes = value.variable->bytes();
  const int64_t element = size_of(value.variable->dtype());
  const bool whole = value.snapshot.version() != 0;
  if (whole && !value.halved) return send({value.snapshot.data(), size_t(bytes)});
  if (whole) return send_halved(value.snapshot.data(), bytes / element);
  std::vector<std::byte> piece(size_t(std::min(kPieceBytes, bytes)));
  for (int64_t done = 0; done < bytes; done += kPieceBytes) {
    const auto part = std::span(piece).first(size_t(std::min(kPieceBytes, bytes - done)));
    value.variable->read(done, part);
    if (value.halved)
      send_halved(part.data(), int64_t(part.size()) / element);
    else
      send(part);
  }
}

DISTRIBUTE_INLINE void LinkSession::send_halved(const std::byte* values, int64_t count) {
  constexpr int64_t kPart = 65536;
  std::vector<uint16_t> part(size_t(std::min(kPart, count)));
  for (int64_t done = 0; done < count; done += kPart) {
    const int64_t size = std::min(kPart, count - done);
    narrow(reinterpret_cast<const float*>(values) + done, part.data(), size);
    send(std::as_bytes(std::span(part).first(size_t(size))));
  }
}

}  // namespace distribute::parameter_server
