#pragma once
#include <distribute/collective/detail/engine_messages.hpp>
#include <distribute/collective/detail/message_tools.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace distribute::collective {

namespace engine_internal {

/// Two channels of heads, and the contents that belong to each, share the tags of a pair.
inline constexpr uint32_t kChannelShift = 13, kFlowShift = 10;
static_assert(kChannelShift + 2 == DISTRIBUTE_ENGINE_TAG_BITS);
constexpr uint32_t head_tag(int channel) { return uint32_t(channel) << kChannelShift; }
/// Contents of the same tag arrive in order, and all algorithms send and expect the parts of a flow
/// in an order that differs by less than 1,024, if at all.
constexpr uint32_t contents_tag(int channel, uint64_t tag) {
  return uint32_t(channel + 2) << kChannelShift | (flow_of(tag) & 7) << kFlowShift |
         uint32_t(number_of(tag) & ((1 << kFlowShift) - 1));
}

DISTRIBUTE_INLINE std::string reason(int code) {
  return code == 0 ? std::string() : str_cat("code ", code, " of the engine");
}

}  // namespace engine_internal

DISTRIBUTE_INLINE EngineMessages::EngineMessages(std::unique_ptr<EngineGroup> group, int rank,
                                                 std::vector<std::string> names,
                                                 EngineProofs proofs, double spin_seconds)
    : rank_(rank),
      group_(std::move(group)),
      peers_(names.size()),
      proofs_(std::move(proofs)),
      wait_(spin_seconds) {
  for (int p = 0; p < size(); ++p) {
    peer(p).name = std::move(names[size_t(p)]);
    for (int channel = 0; channel < 2 && p != rank_; ++channel) post(p, channel);
  }
}

DISTRIBUTE_INLINE EngineMessages::~EngineMessages() {
  const bool is_used_for_ever = broken_ && group_->owns_ranks();  // MPI takes nothing back
  group_.reset();  // the buffers outlive the engine's use of them
  if (is_used_for_ever) {
    new EngineSlots(std::move(slots_));
    for (Peer& other : peers_)
      for (Channel& channel : other.channels) static_cast<void>(channel.buffer.release());
  }
}

/// Posts the receive of the channel's next head into its buffer.
DISTRIBUTE_INLINE void EngineMessages::post(int from, int channel) {
  Channel& place = peer(from).channels[size_t(channel)];
  if (!place.buffer) place.buffer = slots_.new_buffer();
  place.arrived = false;
  group_->receive(from, engine_internal::head_tag(channel), place.buffer->bytes,
                  kHeads + uint64_t(from) * 2 + uint64_t(channel));
}

DISTRIBUTE_INLINE void EngineMessages::begin(const Operation& operation) {
  throw_if_aborted();
  running_.begin(operation, rank_);
  wait_.moved(net::Deadline::Clock::now());
  for (int p = 0; p < size(); ++p) {
    Peer& other = peer(p);
    other.heard = false;
    for (const EngineBufferPointer& early : other.early)
      if (running_.is_collective)
        check_same(running_.collective, rank_, early->head(other.name).header.signature, p);
    for (int channel = 0; channel < 2; ++channel)
      if (other.channels[size_t(channel)].arrived) read(p, channel);
  }
}

DISTRIBUTE_INLINE void EngineMessages::write_head(EngineBuffer& buffer, int to,
                                                  const MessageHeader& header) const {
  EngineHead head{.header = header};
  if (!proofs_.out.empty())
    std::memcpy(head.proof.data(), proofs_.out[size_t(to)].data(), head.proof.size());
  buffer.write(head);
}

DISTRIBUTE_INLINE void EngineMessages::send(int to, uint64_t tag, std::span<const std::byte> bytes,
                                            bool) {
  Peer& other = peer(to);
  if (!running_.is_collective) tag = other.parts_sent++;
  ++other.to_send;
  ++pending_;
  if (other.lost) throw_if_lost();
  const bool alone = bytes.size() > EngineBuffer::kShort;
  const int channel = running_.is_collective ? 0 : 1;
  const uint64_t cookie =
      slots_.open({.peer = to, .tag = tag, .sends = true, .parts = alone ? 2 : 1});
  EngineBufferPointer head = slots_.new_buffer();
  write_head(*head, to, running_.header(tag, bytes.size()));
  if (!alone) copy_bytes(head->contents(), bytes.data(), int64_t(bytes.size()));
  const std::span<const std::byte> message(head->bytes.data(),
                                           kEngineHeadBytes + (alone ? 0 : bytes.size()));
  slots_[cookie].head = std::move(head);
  try {
    group_->send(to, engine_internal::head_tag(channel), message, cookie);
    if (alone) group_->send(to, engine_internal::contents_tag(channel, tag), bytes, cookie);
  } catch (const UnavailableError& error) {  // which does not name the rank
    lose(to, error.what());
    throw_if_lost();
    throw;
  }
}

DISTRIBUTE_INLINE void EngineMessages::receive(int from, uint64_t tag, std::span<std::byte> out) {
  Peer& other = peer(from);
  if (!running_.is_collective) tag = other.parts_come++;
  ++other.to_come;
  ++pending_;
  const int channel = running_.is_collective ? 0 : 1;
  other.wanted.push_back({tag, out, kNoSlot});
  if (out.size() > EngineBuffer::kShort) {
    const uint64_t slot = other.wanted.back().slot =
        slots_.open({.peer = from, .tag = tag, .parts = 2});
    group_->receive(from, engine_internal::contents_tag(channel, tag), out, slot);
  }
  if (running_.is_collective && take_early(from)) return;
  if (other.channels[size_t(channel)].arrived) read(from, channel);
}

DISTRIBUTE_INLINE void EngineMessages::all_reduce(int dtype, int op) {
  ++pending_;
  wait_.moved();
  group_->all_reduce(running_.operation.input, running_.operation.output, running_.operation.count,
                     dtype, op, kReduction);
}

DISTRIBUTE_INLINE Messages::Event EngineMessages::next() {
  while (events_.empty()) {
    if (pending_ == 0)
      throw InternalError("a collective waits for a message that was not asked for");
    turn();
  }
  const Event event = events_.front();
  events_.pop_front();
  return event;
}

DISTRIBUTE_INLINE void EngineMessages::finish() {
  for (events_.clear(); pending_ > 0; events_.clear()) turn();
}

DISTRIBUTE_INLINE void EngineMessages::look() {
  turn_once();
  throw_if_aborted();
}

/// Returns whether a message has come or was sent.
DISTRIBUTE_INLINE bool EngineMessages::turn_once() {
  bool moved = true;
  if (unread_.empty()) unread_ = group_->progress(engine_events_, moved);
  while (!unread_.empty()) {
    const distribute_engine_event event = unread_.front();
    unread_ = unread_.subspan(1);
    take(event);
  }
  return moved;
}

DISTRIBUTE_INLINE void EngineMessages::turn() {
  const bool moved = turn_once();
  throw_if_aborted();
  if (moved || !events_.empty()) {
    wait_.moved();
    return;
  }
  throw_if_lost();
  if (running_.operation.deadline.passed()) return late();
  wait_.wait(*group_, wake_.native(), running_.operation, most_sleep_ms(running_.operation));
  if (!departures_.any()) return;
  wake_.clear();
  check_departures();
}

DISTRIBUTE_INLINE void EngineMessages::check_departures() {
  const Departures::Time moved = wait_.moved_at();
  size_t messages = 0;
  for (int p = 0; p < size(); ++p) {
    messages += peer(p).to_send + peer(p).to_come;
    if (peer(p).awaited()) departures_.throw_if_silent(p, moved, rank_, running_.operation);
  }
  const bool engine_reduces = pending_ > messages;
  if (engine_reduces) departures_.throw_if_any_silent(moved, rank_, running_.operation);
}

DISTRIBUTE_INLINE void EngineMessages::wake() { wake_.signal(); }

DISTRIBUTE_INLINE void EngineMessages::take(const distribute_engine_event& event) {
  const std::string why = engine_internal::reason(event.code);
  if (event.cookie == DISTRIBUTE_ENGINE_PEER_LOST) return lose(event.peer, why);
  if (event.cookie == kLastWords) {
    --last_words_;
  } else if (event.cookie == kReduction) {
    --pending_;
    reduction_failed_ = event.code != 0;
  } else if (event.cookie >= kHeads) {
    const int from = int((event.cookie - kHeads) / 2), channel = int((event.cookie - kHeads) % 2);
    if (event.code != 0) return lose(from, why);
    peer(from).channels[size_t(channel)].arrived = true;
    read(from, channel);
  } else if (event.code != 0) {
    fail_part(event.cookie, event.code);
  } else {
    end_part(event.cookie);
  }
}

DISTRIBUTE_INLINE void EngineMessages::end_part(uint64_t cookie) {
  EngineSlot& slot = slots_[cookie];
  if (--slot.parts > 0) return;
  slots_.close(cookie);
  end_message(slot.peer, slot.tag, slot.sends);
}

/// Contents that do not fit are of another operation, as their head will tell.
DISTRIBUTE_INLINE void EngineMessages::fail_part(uint64_t cookie, int code) {
  EngineSlot& slot = slots_[cookie];
  if (slot.sends || slot.parts == 1) return lose(slot.peer, engine_internal::reason(code));
  slot.failure = code;
}

DISTRIBUTE_INLINE void EngineMessages::end_message(int who, uint64_t tag, bool sent) {
  --(sent ? peer(who).to_send : peer(who).to_come);
  --pending_;
  events_.push_back({who, tag, sent});
}

/// Takes heads up to one that no operation waits for yet.
DISTRIBUTE_INLINE void EngineMessages::read(int from, int channel) {
  if (!read_head(from, channel)) return;
  post(from, channel);
}

DISTRIBUTE_INLINE bool EngineMessages::read_head(int from, int channel) {
  Peer& other = peer(from);
  const EngineBuffer& buffer = *other.channels[size_t(channel)].buffer;
  const EngineHead head = buffer.head(other.name);
  if (!proofs_.in.empty() && std::memcmp(head.proof.data(), proofs_.in[size_t(from)].data(), 16))
    throw UnauthenticatedError(str_cat("a message in the name of ", other.name,
                                       " does not prove that it comes from a task of this job"));
  check_header(head.header, other.name);
  if (head.header.kind == MessageHeader::Kind::Failure)
    throw_error(head.header.code,
                std::string(reinterpret_cast<const char*>(buffer.contents()), head.header.bytes));
  return channel == 0 ? read_collective(from, head) : read_point_to_point(from, head);
}

DISTRIBUTE_INLINE bool EngineMessages::read_collective(int from, const EngineHead& head) {
  Peer& other = peer(from);
  other.heard = true;
  if (head.header.signature.sequence > running_.collective.sequence) return false;  // it is ahead
  check_same(running_.collective, rank_, head.header.signature, from);
  if (!running_.is_collective) return false;
  EngineBufferPointer& buffer = other.channels[0].buffer;
  if (!deliver(from, *buffer)) other.early.push_back(std::move(buffer));
  return true;
}

DISTRIBUTE_INLINE bool EngineMessages::read_point_to_point(int from, const EngineHead& head) {
  if (running_.is_collective || peer(from).wanted.empty()) return false;
  check_point_to_point(running_.point_to_point, head.header.signature, from);
  return deliver(from, *peer(from).channels[1].buffer);
}

/// Checks the head, and copies short contents to their memory; returns false if no operation waits
/// for them yet.
DISTRIBUTE_INLINE bool EngineMessages::deliver(int from, const EngineBuffer& buffer) {
  Peer& other = peer(from);
  const EngineHead head = buffer.head(other.name);
  const auto at = std::find_if(other.wanted.begin(), other.wanted.end(),
                               [&](const Incoming& one) { return one.tag == head.header.tag; });
  if (at == other.wanted.end()) return false;
  check_length(head.header, at->out.size(), other.name);
  const Incoming message = *at;
  other.wanted.erase(at);
  if (message.slot == kNoSlot) {
    copy_bytes(message.out.data(), buffer.contents(), int64_t(message.out.size()));
    end_message(from, message.tag, false);
  } else if (const int failure = slots_[message.slot].failure) {
    lose(from, engine_internal::reason(failure));
  } else {
    end_part(message.slot);
  }
  return true;
}

/// Whether the newest receive() finds its head among those that came before.
DISTRIBUTE_INLINE bool EngineMessages::take_early(int from) {
  Peer& other = peer(from);
  for (auto at = other.early.begin(); at != other.early.end(); ++at)
    if (deliver(from, **at)) {
      slots_.give_back(std::move(*at));
      other.early.erase(at);
      return true;
    }
  return false;
}

DISTRIBUTE_INLINE void EngineMessages::lose(int who, const std::string& why) {
  peer(who).lost = true;
  if (peer(who).why.empty()) peer(who).why = why;
}

DISTRIBUTE_INLINE void EngineMessages::throw_if_lost() {
  for (const Peer& other : peers_)
    if (other.lost && other.awaited())
      throw UnavailableError(str_cat(to_string(signature_of(running_.operation)), ": rank ", rank_,
                                     " has lost the connection to ", other.name,
                                     ", which has ended or was cut off (", other.why, ")"));
  if (reduction_failed_ && pending_ == 0)
    throw UnavailableError(str_cat(to_string(signature_of(running_.operation)),
                                   ": the all-reduce of the engine ", name(), " has failed"));
}

DISTRIBUTE_INLINE void EngineMessages::late() {
  // Over an engine ranks do not say that they wait: one that has sent something counts as there.
  std::vector<const MessagePeer*> all;
  for (Peer& other : peers_) {
    other.late = other.heard;
    all.push_back(&other);
  }
  running_.late(all, rank_);
}

DISTRIBUTE_INLINE void EngineMessages::throw_if_aborted() { aborted_.throw_if_set(); }

DISTRIBUTE_INLINE void EngineMessages::abort(StatusCode code, const std::string& message) {
  if (aborted_.set(code, message)) wake_.signal();
}

/// Sends in both channels, as the receiver may have a message in one of them that it does not need
/// yet.
DISTRIBUTE_INLINE void EngineMessages::hang_up(StatusCode code, const std::string& message) {
  using namespace std::chrono_literals;
  broken_ = true;
  group_->set_broken();
  const size_t length = std::min<size_t>(message.size(), MessageHeader::kMaxFailureBytes);
  const MessageHeader header{
      .kind = MessageHeader::Kind::Failure, .code = code, .signature = {}, .bytes = length};
  try {
    for (int p = 0; p < size(); ++p) {
      if (p == rank_ || peer(p).lost) continue;
      EngineBuffer& buffer = *slots_.keep({.parts = 1, .head = slots_.new_buffer()}).head;
      write_head(buffer, p, header);
      std::memcpy(buffer.contents(), message.data(), length);
      const std::span<const std::byte> bytes(buffer.bytes.data(), kEngineHeadBytes + length);
      for (int channel = 0; channel < 2; ++channel, ++last_words_)
        group_->send(p, engine_internal::head_tag(channel), bytes, kLastWords);
    }
    const auto end = net::Deadline::Clock::now() + 200ms;
    while (last_words_ > 0 && net::Deadline::Clock::now() < end) {
      bool moved = false;
      const auto events = group_->progress(engine_events_, moved);
      for (const auto& event : events) last_words_ -= event.cookie == kLastWords;
      if (events.empty()) std::this_thread::yield();
    }
  } catch (const Error&) {
    return;  // the engine is broken as well; what failed first is known already
  }
}

}  // namespace distribute::collective
