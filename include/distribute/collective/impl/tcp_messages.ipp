#pragma once
#include <distribute/base/limits.hpp>
#include <distribute/collective/detail/spin_time.hpp>
#include <distribute/collective/detail/tcp_messages.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <poll.h>

namespace distribute::collective {

DISTRIBUTE_INLINE TcpMessages::TcpMessages(int rank, std::vector<std::vector<net::Socket>> flows,
                                           double spin_seconds, std::unique_ptr<Links> links)
    : rank_(rank),
      spin_seconds_(spin_seconds < 0 ? useful_spin(flows) : spin_seconds),
      peers_(flows.size()),
      links_(std::move(links)) {
  for (size_t p = 0; p < flows.size(); ++p) {
    if (int(p) == rank) continue;
    if (flows[p].empty() && !links_)
      throw InvalidArgumentError(str_cat("no connection to rank ", p));
    peers_[p].name = str_cat("rank ", p, " (",
                             flows[p].empty() ? links_->name(int(p)) : flows[p][0].peer(), ")");
    for (net::Socket& socket : flows[p]) add_flow(int(p), std::move(socket));
  }
  if (links_) links_->start([this] { wake_.signal(); });
}

DISTRIBUTE_INLINE void TcpMessages::add_flow(int rank, net::Socket socket) {
  TcpPeer& other = peer(rank);
  if (other.flows.empty())
    connected_.insert(std::lower_bound(connected_.begin(), connected_.end(), rank), rank);
  other.flows.emplace_back(std::move(socket));
  ++connections_;
}

DISTRIBUTE_INLINE void TcpMessages::welcome() {
  if (!links_) return;
  for (auto& [who, socket] : links_->arrived()) add_flow(who, std::move(socket));
}

DISTRIBUTE_INLINE void TcpMessages::connect(int to) {
  welcome();
  if (peer(to).flows.empty()) dial(to);
}

DISTRIBUTE_INLINE void TcpMessages::dial(int to) {
  try {
    add_flow(to, links_->dial(to, running_.operation.deadline));
    ++peer(to).dialled;
  } catch (const TaskLeftError& error) {
    throw RankLeftError(error.what(), rank_, running_.operation);
  } catch (const Error& error) {
    throw_if_aborted();
    throw_error(error.code(), str_cat(to_string(signature_of(running_.operation)), ": rank ", rank_,
                                      " has no connection to ", peer(to).name, ": ", error.what()));
  }
}

/// Whether a further connection to a rank pays. Each of the two makes at most half of them.
DISTRIBUTE_INLINE bool TcpMessages::is_narrow(const TcpPeer& other, int to) const {
  constexpr size_t kLarge = 64 << 10;
  const auto& queue = other.urgent.empty() ? other.queue : other.urgent;
  if (!links_ || queue.empty() || queue.front().bytes.size() < kLarge) return false;
  const int most = links_->most_flows(to), mine = (most + (to < rank_)) / 2;
  return int(other.flows.size()) < most && other.dialled < mine &&
         connections_ < links_->most_connections();
}

/// Makes a further connection; without it the others do.
DISTRIBUTE_INLINE void TcpMessages::widen(int to) {
  try {
    dial(to);
  } catch (const Error& error) {
    peer(to).dialled = links_->most_flows(to);  // it does not try again
  }
}

DISTRIBUTE_INLINE TcpMessages::~TcpMessages() = default;

DISTRIBUTE_INLINE void TcpMessages::begin(const Operation& operation) {
  throw_if_aborted();
  running_.begin(operation, rank_);
  moved_at_ = net::Deadline::Clock::now();
  for (const int p : connected_) {
    peer(p).heard = false;
    for (TcpFlow& flow : peer(p).flows)
      if (flow.parked) consume(p, flow);
  }
}

DISTRIBUTE_INLINE void TcpMessages::send(int to, uint64_t tag, std::span<const std::byte> bytes,
                                         bool urgent) {
  TcpPeer& other = peer(to);
  if (other.flows.empty()) connect(to);
  if (other.gone()) throw_gone(to);
  if (!running_.is_collective) tag = other.parts_sent++;
  (urgent ? other.urgent : other.queue).push_back({tag, bytes});
  ++other.to_send;
  ++pending_;
}

DISTRIBUTE_INLINE void TcpMessages::receive(int from, uint64_t tag, std::span<std::byte> out) {
  TcpPeer& other = peer(from);
  if (!running_.is_collective) tag = other.parts_come++;
  ++other.to_come;
  ++pending_;
  if (!running_.is_collective && take_early(from, {tag, out})) return;
  if (other.gone()) throw_gone(from);
  other.wanted.push_back({tag, out});
  for (TcpFlow& flow : other.flows)
    if (flow.parked) consume(from, flow);
}

DISTRIBUTE_INLINE Messages::Event TcpMessages::next() {
  while (events_.empty()) {
    if (pending_ == 0)
      throw InternalError("a collective waits for a message that was not asked for");
    turn();
  }
  const Event event = events_.front();
  events_.pop_front();
  return event;
}

DISTRIBUTE_INLINE void TcpMessages::finish() {
  for (events_.clear(); pending_ > 0; events_.clear()) turn();
}

/// Writes and reads what is possible without waiting; waits if nothing is.
DISTRIBUTE_INLINE void TcpMessages::turn() {
  const bool moved = write_some();
  const int ready = poll(moved || !events_.empty());
  throw_if_aborted();
  if (ready == 0 && running_.operation.deadline.passed()) late();
  read_polled(ready);
  if (departures_.any()) check_departures();
}

DISTRIBUTE_INLINE void TcpMessages::look() {
  const int ready = poll(true);
  throw_if_aborted();
  read_polled(ready);
}

DISTRIBUTE_INLINE void TcpMessages::read_polled(int ready) {
  if (ready <= 0) return;
  for (size_t i = 0; i < polled_flows_.size(); ++i) {
    const auto [who, flow] = polled_flows_[i];
    if (polled_[i + 1].revents & POLLOUT) flow->blocked = false;
    const bool readable = (polled_[i + 1].revents & ~POLLOUT) || has_buffered(*flow);
    if (readable && !flow->closed) read(who, *flow);
  }
}

DISTRIBUTE_INLINE bool TcpMessages::write_some() {
  bool moved = false;
  for (const int p : connected_) {
    if (peer(p).to_send == 0) continue;
    for (TcpFlow& flow : peer(p).flows) {
      if (flow.closed || flow.blocked || (!flow.sending() && !start_next(p, flow))) continue;
      write(p, flow);
      moved = true;
    }
    if (is_narrow(peer(p), p)) widen(p);
  }
  return moved;
}

DISTRIBUTE_INLINE bool TcpMessages::start_next(int to, TcpFlow& flow) {
  TcpPeer& other = peer(to);
  std::deque<TcpPeer::Outgoing>& queue = other.urgent.empty() ? other.queue : other.urgent;
  if (queue.empty()) return false;
  const TcpPeer::Outgoing message = queue.front();
  queue.pop_front();
  flow.start(running_.header(message.tag, message.bytes.size()), message.bytes);
  return true;
}

DISTRIBUTE_INLINE void TcpMessages::write(int to, TcpFlow& flow) {
  if (flow.write() == TcpFlow::Moved::Broken) return lost(to, flow, true);
  moved_at_ = net::Deadline::Clock::now();
  if (flow.sending() || flow.sending_kind() == MessageHeader::Kind::Late) return;
  --peer(to).to_send;
  --pending_;
  events_.push_back({.peer = to, .tag = flow.sending_tag(), .sent = true});
}

/// With `moved` there is more work, so it does not wait. Returns the result of ::poll, at least 1
/// when there are bytes of which ::poll does not know.
DISTRIBUTE_INLINE int TcpMessages::poll(bool moved) {
  polled_.assign(1, {wake_.native(), POLLIN, 0});
  polled_flows_.clear();
  bool buffered = false;
  for (const int p : connected_)
    for (TcpFlow& flow : peer(p).flows) {
      const short events = short((flow.parked ? 0 : POLLIN) | (flow.blocked ? POLLOUT : 0));
      if (flow.closed || events == 0) continue;
      polled_.push_back({flow.native(), events, 0});
      polled_flows_.emplace_back(p, &flow);
      buffered = buffered || has_buffered(flow);
    }
  const auto now = net::Deadline::Clock::now();
  const std::chrono::duration<double> spin(cores_are_contended() ? 0 : spin_seconds_);
  const bool look = moved || buffered || now - moved_at_ < spin;
  const int ready =
      ::poll(polled_.data(), polled_.size(), look ? 0 : most_sleep_ms(running_.operation));
  if (polled_[0].revents) {
    wake_.clear();
    welcome();
  }
  return buffered ? std::max(ready, 1) : ready;
}

DISTRIBUTE_INLINE void TcpMessages::read(int from, TcpFlow& flow) {
  switch (flow.read()) {
    case TcpFlow::Moved::Nothing: return;
    case TcpFlow::Moved::End: return lost(from, flow, flow.has_bytes());
    case TcpFlow::Moved::Broken: return lost(from, flow, true);
    case TcpFlow::Moved::Something: break;
  }
  moved_at_ = net::Deadline::Clock::now();
  consume(from, flow);
}

/// Passes the received messages on, up to one without a receive().
DISTRIBUTE_INLINE void TcpMessages::consume(int from, TcpFlow& flow) {
  flow.parked = false;
  for (;;) {
    if (flow.take_message()) arrived(from, flow.received());
    const MessageHeader* header = flow.header(peer(from).name);
    if (!header) return;
    const Place out = place(from, *header);
    flow.parked = !out;
    if (!out) return;
    flow.accept(*out);
  }
}

DISTRIBUTE_INLINE TcpMessages::Place TcpMessages::place(int from, const MessageHeader& header) {
  switch (header.kind) {
    case MessageHeader::Kind::Failure:
    case MessageHeader::Kind::Late: return failure_.data();
    case MessageHeader::Kind::PointToPoint: return place_point_to_point(from, header);
    default: return place_collective(from, header);
  }
}

DISTRIBUTE_INLINE TcpMessages::Place TcpMessages::place_collective(int from,
                                                                   const MessageHeader& header) {
  TcpPeer& other = peer(from);
  other.heard = true;
  if (header.signature.sequence > running_.collective.sequence) return {};  // it is ahead
  check_same(running_.collective, rank_, header.signature, from);
  if (!running_.is_collective) return {};
  return place_wanted(from, header);
}

DISTRIBUTE_INLINE TcpMessages::Place TcpMessages::place_wanted(int from,
                                                               const MessageHeader& header) {
  TcpPeer& other = peer(from);
  const auto at = std::find_if(other.wanted.begin(), other.wanted.end(),
                               [&](const TcpPeer::Incoming& one) { return one.tag == header.tag; });
  if (at == other.wanted.end()) return {};
  if (header.kind == MessageHeader::Kind::PointToPoint)
    check_point_to_point(running_.point_to_point, header.signature, from);
  check_length(header, at->out.size(), other.name);
  std::byte* out = at->out.data();
  other.wanted.erase(at);
  return out;
}

DISTRIBUTE_INLINE TcpMessages::Place TcpMessages::place_point_to_point(
    int from, const MessageHeader& header) {
  static constexpr size_t kMessage = 64 << 10, kAll = 1 << 20;
  TcpPeer& other = peer(from);
  if (!running_.is_collective)
    if (const Place out = place_wanted(from, header)) return out;
  if (header.bytes > kMessage || other.early_bytes + header.bytes + sizeof(TcpPeer::Early) > kAll)
    return {};
  other.early_bytes += header.bytes + sizeof(TcpPeer::Early);
  other.early.push_back({header, std::make_unique<std::byte[]>(header.bytes)});
  return other.early.back().bytes.get();
}

/// Whether the message has come, or is being received in its own memory.
DISTRIBUTE_INLINE bool TcpMessages::take_early(int from, const TcpPeer::Incoming& wanted) {
  TcpPeer& other = peer(from);
  const auto at =
      std::find_if(other.early.begin(), other.early.end(),
                   [&](const TcpPeer::Early& one) { return one.header.tag == wanted.tag; });
  if (at == other.early.end()) return false;
  check_point_to_point(running_.point_to_point, at->header.signature, from);
  check_length(at->header, wanted.out.size(), other.name);
  at->out = wanted.out.data();
  if (at->whole) arrived(from, at->header);
  return true;
}

DISTRIBUTE_INLINE void TcpMessages::arrived(int from, const MessageHeader& header) {
  TcpPeer& other = peer(from);
  other.late = header.kind == MessageHeader::Kind::Late;
  if (other.late) return running_.hurry();
  if (header.kind == MessageHeader::Kind::Failure)
    throw_error(header.code,
                std::string(reinterpret_cast<const char*>(failure_.data()), header.bytes));
  const auto early =
      std::find_if(other.early.begin(), other.early.end(), [&](const TcpPeer::Early& one) {
        return header.kind == MessageHeader::Kind::PointToPoint && one.header.tag == header.tag;
      });
  if (early != other.early.end()) {
    early->whole = true;
    if (!early->out) return;
    std::memcpy(early->out, early->bytes.get(), header.bytes);
    other.early_bytes -= header.bytes + sizeof(TcpPeer::Early);
    other.early.erase(early);
  }
  --other.to_come;
  --pending_;
  events_.push_back({.peer = from, .tag = header.tag});
}

/// Handles a connection that has ended; that is an error once a message is missing.
DISTRIBUTE_INLINE void TcpMessages::lost(int who, TcpFlow& flow, bool broken) {
  flow.closed = true;
  const TcpPeer& other = peer(who);
  const bool needed = other.awaited();
  if (!needed || !(broken || other.gone())) return;
  hear_last_words(who);
  throw_gone(who);
}

DISTRIBUTE_INLINE void TcpMessages::throw_gone(int who) {
  departures_.throw_if_left(who, rank_, running_.operation);
  peer(who).throw_gone(running_.operation, rank_);
}

DISTRIBUTE_INLINE void TcpMessages::check_departures() {
  for (int p = 0; p < size(); ++p)
    if (peer(p).awaited()) departures_.throw_if_silent(p, moved_at_, rank_, running_.operation);
}

DISTRIBUTE_INLINE void TcpMessages::wake() { wake_.signal(); }

/// A rank that fails says why on a connection that is free, while others break off.
DISTRIBUTE_INLINE void TcpMessages::hear_last_words(int from) {
  for (TcpFlow& flow : peer(from).flows)
    if (!flow.closed && !flow.parked && flow.read() == TcpFlow::Moved::Something)
      consume(from, flow);
}

DISTRIBUTE_INLINE void TcpMessages::late() {
  std::vector<const MessagePeer*> all;
  for (TcpPeer& other : peers_) {
    for (const TcpFlow& flow : other.flows) other.late = other.late || flow.parked;
    all.push_back(&other);
  }
  if (running_.late(all, rank_)) say_late();
}

/// Tells all ranks that this one waits, on connections that are free: one that is not carries other
/// messages.
DISTRIBUTE_INLINE void TcpMessages::say_late() {
  const MessageHeader header{
      .kind = MessageHeader::Kind::Late, .signature = running_.collective, .bytes = 0};
  for (int p = 0; p < size(); ++p)
    for (TcpFlow& flow : peer(p).flows) {
      if (flow.closed || flow.blocked || flow.sending()) continue;
      flow.start(header, {});
      write(p, flow);
      break;
    }
}

DISTRIBUTE_INLINE void TcpMessages::throw_if_aborted() { aborted_.throw_if_set(); }

DISTRIBUTE_INLINE void TcpMessages::abort(StatusCode code, const std::string& message) {
  if (aborted_.set(code, message)) wake_.signal();
}

DISTRIBUTE_INLINE std::string farewell(MessageHeader header, std::string_view text) {
  std::string bytes;
  net::append_fields(bytes, net::FieldsRef(header));
  return bytes.append(text);
}

DISTRIBUTE_INLINE void TcpMessages::hang_up(StatusCode code, const std::string& message) {
  const std::string_view text =
      std::string_view(message).substr(0, MessageHeader::kMaxFailureBytes);
  const MessageHeader header{
      .kind = MessageHeader::Kind::Failure, .code = code, .signature = {}, .bytes = text.size()};
  for (TcpPeer& other : peers_)
    for (TcpFlow& flow : other.flows) flow.say_goodbye(header, std::as_bytes(std::span(text)));
  if (links_) links_->close(farewell(header, text));
}

}  // namespace distribute::collective
