#pragma once
#include <distribute/base/cores.hpp>
#include <distribute/collective/detail/engine_messages.hpp>
#include <distribute/collective/detail/message_tools.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace distribute::collective {

namespace engine_internal {

/// Channels and contents share the tags of a pair.
inline constexpr uint32_t kNumberBits = DISTRIBUTE_ENGINE_TAG_BITS - 2;
constexpr uint32_t channel_tag(int channel) { return uint32_t(channel) << kNumberBits; }
constexpr uint32_t rest_tag(uint64_t number) {
  return uint32_t{2} << kNumberBits | uint32_t(number & ((1u << kNumberBits) - 1));
}

}  // namespace engine_internal

DISTRIBUTE_INLINE EngineHead EngineMessages::Buffer::head() const {
  EngineHead head;
  std::memcpy(&head, bytes.data(), sizeof head);
  return head;
}

DISTRIBUTE_INLINE EngineMessages::EngineMessages(std::unique_ptr<EngineGroup> group, int rank,
                                                 std::vector<std::string> names,
                                                 EngineProofs proofs, double spin_seconds)
    : rank_(rank),
      spin_seconds_(spin_seconds),
      group_(std::move(group)),
      peers_(names.size()),
      proofs_(std::move(proofs)) {
  wake_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wake_ < 0) throw ResourceExhaustedError(str_cat("eventfd: ", std::strerror(errno)));
  for (int p = 0; p < size(); ++p) {
    peer(p).name = std::move(names[size_t(p)]);
    for (int channel = 0; channel < 2 && p != rank_; ++channel) post(p, channel);
  }
}

DISTRIBUTE_INLINE EngineMessages::~EngineMessages() {
  const bool is_used_for_ever = broken_ && group_->owns_ranks();  // MPI takes nothing back
  group_.reset();  // the buffers outlive the engine's use of them
  if (is_used_for_ever) {
    new std::vector<Slot>(std::move(slots_));
    for (Peer& other : peers_)
      for (Channel& channel : other.channels) static_cast<void>(channel.buffer.release());
  }
  ::close(wake_);
}

DISTRIBUTE_INLINE EngineMessages::BufferPointer EngineMessages::new_buffer() {
  if (free_buffers_.empty()) return std::make_unique<Buffer>();
  BufferPointer buffer = std::move(free_buffers_.back());
  free_buffers_.pop_back();
  return buffer;
}

DISTRIBUTE_INLINE uint64_t EngineMessages::open_slot(int peer, uint64_t tag, bool sends) {
  if (free_slots_.empty()) {
    free_slots_.push_back(slots_.size());
    slots_.emplace_back();
  }
  const uint64_t cookie = free_slots_.back();
  free_slots_.pop_back();
  Slot& slot = slots_[cookie];
  slot.peer = peer;
  slot.tag = tag;
  slot.sends = sends;
  slot.parts = 1;
  return cookie;
}

/// The next head of the channel goes into its buffer.
DISTRIBUTE_INLINE void EngineMessages::post(int from, int channel) {
  Channel& place = peer(from).channels[size_t(channel)];
  if (!place.buffer) place.buffer = new_buffer();
  place.arrived = false;
  group_->receive(from, engine_internal::channel_tag(channel), place.buffer->bytes,
                  kHeads + uint64_t(from) * 2 + uint64_t(channel));
}

DISTRIBUTE_INLINE void EngineMessages::begin(const Operation& operation) {
  throw_if_aborted();
  operation_ = operation;
  collective_runs_ = operation.kind != Collective::Send && operation.kind != Collective::Receive;
  Signature signature = signature_of(operation);
  if (collective_runs_) {
    collective_ = signature;
  } else {  // as the sender sees it
    if (operation.kind == Collective::Receive) signature.peer = rank_;
    signature.kind = Collective::Send;
    point_to_point_ = signature;
  }
  moved_at_ = net::Deadline::Clock::now();
  lingers_ = false;
  for (int p = 0; p < size(); ++p) {
    Peer& other = peer(p);
    other.heard = false;
    for (const BufferPointer& early : other.early)
      if (collective_runs_) check_same(collective_, rank_, early->head().header.signature, p);
    for (int channel = 0; channel < 2; ++channel)
      if (other.channels[size_t(channel)].arrived) read(p, channel);
  }
}

DISTRIBUTE_INLINE void EngineMessages::write_head(Buffer& buffer, int to,
                                                  const MessageHeader& header,
                                                  uint64_t rest) const {
  EngineHead head{.header = header, .rest = rest};
  if (!proofs_.out.empty())
    std::memcpy(head.proof.data(), proofs_.out[size_t(to)].data(), head.proof.size());
  std::memcpy(buffer.bytes.data(), &head, sizeof head);
}

DISTRIBUTE_INLINE void EngineMessages::send(int to, uint64_t tag, std::span<const std::byte> bytes,
                                            bool) {
  Peer& other = peer(to);
  if (!collective_runs_) tag = other.parts_sent++;
  ++other.to_send;
  ++pending_;
  if (other.lost) throw_if_lost();
  const uint64_t cookie = open_slot(to, tag, true);
  BufferPointer head = new_buffer();
  const bool alone = bytes.size() > kShort;
  write_head(*head, to,
             {.kind = collective_runs_ ? MessageHeader::Kind::Collective
                                       : MessageHeader::Kind::PointToPoint,
              .signature = collective_runs_ ? collective_ : point_to_point_,
              .tag = tag,
              .bytes = bytes.size()},
             other.rests);
  if (!alone)
    copy_bytes(head->bytes.data() + sizeof(EngineHead), bytes.data(), int64_t(bytes.size()));
  const std::span<const std::byte> message(head->bytes.data(),
                                           sizeof(EngineHead) + (alone ? 0 : bytes.size()));
  slots_[cookie].head = std::move(head);
  slots_[cookie].parts = alone ? 2 : 1;
  group_->send(to, engine_internal::channel_tag(collective_runs_ ? 0 : 1), message, cookie);
  if (alone) group_->send(to, engine_internal::rest_tag(other.rests++), bytes, cookie);
}

DISTRIBUTE_INLINE void EngineMessages::receive(int from, uint64_t tag, std::span<std::byte> out) {
  Peer& other = peer(from);
  if (!collective_runs_) tag = other.parts_come++;
  ++other.to_come;
  ++pending_;
  other.wanted.push_back({tag, out});
  if (collective_runs_ && take_early(from)) return;
  const int channel = collective_runs_ ? 0 : 1;
  if (other.channels[size_t(channel)].arrived) read(from, channel);
}

DISTRIBUTE_INLINE void EngineMessages::all_reduce(int dtype, int op) {
  ++pending_;
  group_->all_reduce(operation_.input, operation_.output, operation_.count, dtype, op, kReduction);
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

/// Whether something has come or gone.
DISTRIBUTE_INLINE bool EngineMessages::turn_once() {
  if (unread_.empty()) unread_ = group_->progress(engine_events_);
  const bool moved = !unread_.empty();
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
    moved_at_ = {};
    return;
  }
  throw_if_lost();
  wait();
}

DISTRIBUTE_INLINE void EngineMessages::take(const distribute_engine_event& event) {
  const std::string why = event.code == 0 ? "" : str_cat("code ", event.code, " of the engine");
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
    lose(slots_[event.cookie].peer, why);
  } else {
    end_part(event.cookie);
  }
}

DISTRIBUTE_INLINE void EngineMessages::end_part(uint64_t cookie) {
  Slot& slot = slots_[cookie];
  if (--slot.parts > 0) return;
  if (slot.head) free_buffers_.push_back(std::move(slot.head));
  free_slots_.push_back(cookie);
  end_message(slot.peer, slot.tag, slot.sends);
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
  const Buffer& buffer = *other.channels[size_t(channel)].buffer;
  const EngineHead head = buffer.head();
  if (!proofs_.in.empty() && std::memcmp(head.proof.data(), proofs_.in[size_t(from)].data(), 16))
    throw UnauthenticatedError(str_cat("a message in the name of ", other.name,
                                       " does not prove that it comes from a task of this job"));
  check_header(head.header, other.name);
  if (head.header.kind == MessageHeader::Kind::Failure)
    throw_error(StatusCode(head.header.code),
                std::string(reinterpret_cast<const char*>(buffer.contents()), head.header.bytes));
  return channel == 0 ? read_collective(from, head) : read_point_to_point(from, head);
}

DISTRIBUTE_INLINE bool EngineMessages::read_collective(int from, const EngineHead& head) {
  Peer& other = peer(from);
  other.heard = true;
  if (head.header.signature.sequence > collective_.sequence) return false;  // it is ahead
  check_same(collective_, rank_, head.header.signature, from);
  if (!collective_runs_) return false;
  BufferPointer& buffer = other.channels[0].buffer;
  if (!deliver(from, *buffer)) other.early.push_back(std::move(buffer));
  return true;
}

DISTRIBUTE_INLINE bool EngineMessages::read_point_to_point(int from, const EngineHead& head) {
  if (collective_runs_ || peer(from).wanted.empty()) return false;
  check_point_to_point(point_to_point_, head.header.signature, from);
  return deliver(from, *peer(from).channels[1].buffer);
}

/// Puts the contents where they are wanted, or asks for them; false: no operation waits for
/// them yet.
DISTRIBUTE_INLINE bool EngineMessages::deliver(int from, const Buffer& buffer) {
  Peer& other = peer(from);
  const EngineHead head = buffer.head();
  const auto at = std::find_if(other.wanted.begin(), other.wanted.end(),
                               [&](const Incoming& one) { return one.tag == head.header.tag; });
  if (at == other.wanted.end()) return false;
  check_length(head.header, at->out.size(), other.name);
  const std::span<std::byte> out = at->out;
  other.wanted.erase(at);
  if (out.size() <= kShort) {
    copy_bytes(out.data(), buffer.contents(), int64_t(out.size()));
    end_message(from, head.header.tag, false);
  } else {
    group_->receive(from, engine_internal::rest_tag(head.rest), out,
                    open_slot(from, head.header.tag, false));
  }
  return true;
}

/// Whether the newest receive() finds its head among those that came before.
DISTRIBUTE_INLINE bool EngineMessages::take_early(int from) {
  Peer& other = peer(from);
  for (auto at = other.early.begin(); at != other.early.end(); ++at)
    if (deliver(from, **at)) {
      free_buffers_.push_back(std::move(*at));
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
      throw UnavailableError(str_cat(to_string(signature_of(operation_)), ": rank ", rank_,
                                     " has lost the connection to ", other.name,
                                     ", which has ended or was cut off (", other.why, ")"));
  if (reduction_failed_ && pending_ == 0)
    throw UnavailableError(str_cat(to_string(signature_of(operation_)),
                                   ": the all-reduce of the engine ", name(), " has failed"));
}

/// Sleeps where the engine says when there is something to do, else for short times.
DISTRIBUTE_INLINE void EngineMessages::wait() {
  using namespace std::chrono_literals;
  const auto now = net::Deadline::Clock::now();
  if (moved_at_ == net::Deadline::Clock::time_point{}) moved_at_ = now;
  if (operation_.deadline.passed()) return late();
  const std::chrono::duration<double> spin(cores_are_contended() ? 0 : spin_seconds_);
  if (now - moved_at_ < spin) return;
  const int handle = group_->wait_handle();
  if (handle >= 0) {
    pollfd polled[] = {{wake_, POLLIN, 0}, {handle, POLLIN, 0}};
    ::poll(polled, 2, operation_.deadline.left_ms());
  } else if (handle == -2) {
    now - moved_at_ > 2ms ? std::this_thread::sleep_for(50us) : std::this_thread::yield();
  }
}

/// A rank that has heard from all it waits for lets others name the missing rank for a moment.
DISTRIBUTE_INLINE void EngineMessages::late() {
  constexpr double kMoment = 1;
  const bool one_is_silent = std::any_of(peers_.begin(), peers_.end(), [](const Peer& other) {
    return other.awaited() && !other.heard;
  });
  if (lingers_ || one_is_silent || !collective_runs_) {
    std::vector<const MessagePeer*> all;
    for (const Peer& other : peers_) all.push_back(&other);
    throw_too_late(all, operation_, rank_);
  }
  lingers_ = true;
  operation_.deadline = net::Deadline::after_seconds(kMoment);
}

DISTRIBUTE_INLINE void EngineMessages::throw_if_aborted() {
  if (!aborted_) return;
  const std::lock_guard lock(mutex_);
  throw_error(abort_code_, abort_message_);
}

DISTRIBUTE_INLINE void EngineMessages::abort(StatusCode code, const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (aborted_) return;
  abort_code_ = code;
  abort_message_ = message;
  aborted_ = true;
  const uint64_t one = 1;
  if (::write(wake_, &one, sizeof one) < 0) return;  // the counter is full: readable anyway
}

/// In both channels, as the receiver may have something in one of them that it does not want yet.
DISTRIBUTE_INLINE void EngineMessages::hang_up(StatusCode code, const std::string& message) {
  using namespace std::chrono_literals;
  broken_ = true;
  group_->set_broken();
  const size_t length = std::min<size_t>(message.size(), MessageHeader::kMaxFailureBytes);
  const MessageHeader header{.kind = MessageHeader::Kind::Failure,
                             .code = uint16_t(code),
                             .signature = {},
                             .bytes = length};
  try {
    for (int p = 0; p < size(); ++p) {
      if (p == rank_ || peer(p).lost) continue;
      slots_.push_back({.parts = 1, .head = new_buffer()});  // the engine may need it to the end
      Buffer& buffer = *slots_.back().head;
      write_head(buffer, p, header, 0);
      std::memcpy(buffer.bytes.data() + sizeof(EngineHead), message.data(), length);
      const std::span<const std::byte> bytes(buffer.bytes.data(), sizeof(EngineHead) + length);
      for (int channel = 0; channel < 2; ++channel, ++last_words_)
        group_->send(p, engine_internal::channel_tag(channel), bytes, kLastWords);
    }
    const auto end = net::Deadline::Clock::now() + 200ms;
    while (last_words_ > 0 && net::Deadline::Clock::now() < end) {
      const auto events = group_->progress(engine_events_);
      for (const auto& event : events) last_words_ -= event.cookie == kLastWords;
      if (events.empty()) std::this_thread::yield();
    }
  } catch (const Error&) {
    return;  // the engine is broken as well; what failed first is known already
  }
}

}  // namespace distribute::collective
