#pragma once
#include <distribute/base/parallel.hpp>
#include <distribute/collective/detail/combine.hpp>
#include <distribute/collective/detail/window_transport.hpp>

#include <algorithm>
#include <cstring>

namespace distribute::collective {

DISTRIBUTE_INLINE WindowTransport::WindowTransport(std::shared_ptr<Window> window, int rank,
                                                   const char* name)
    : window_(std::move(window)), rank_(rank), name_(name), patience_({window_->ranks()}) {}

DISTRIBUTE_INLINE std::vector<std::unique_ptr<Transport>> make_thread_transports(int ranks) {
  const std::shared_ptr<Window> window = Window::in_process(ranks);
  std::vector<std::unique_ptr<Transport>> result;
  for (int r = 0; r < ranks; ++r)
    result.push_back(std::make_unique<WindowTransport>(window, r, "threads"));
  return result;
}

DISTRIBUTE_INLINE void WindowTransport::abort(StatusCode code, const std::string& message) {
  if (aborted_.set(code, message)) fail(message);
}

/// Tells the others why this rank does not take part.
DISTRIBUTE_INLINE void WindowTransport::fail(const std::string& message) {
  const std::lock_guard lock(failure_mutex_);
  Window::Place& place = window_->place(rank_);
  if (place.failed.load(std::memory_order_relaxed)) return;
  const size_t length = std::min(message.size(), sizeof place.failure - 1);
  std::memcpy(place.failure, message.data(), length);
  place.failed.store(1, std::memory_order_release);
}

DISTRIBUTE_INLINE void WindowTransport::execute(const Operation& operation) {
  operation_ = &operation;
  try {
    dispatch(operation);
  } catch (const Error& error) {
    fail(error.what());
    throw;
  }
  operation_ = nullptr;
}

/// Whether the array is so small that every rank sums everything.
DISTRIBUTE_INLINE bool is_small(const Operation& operation) {
  return operation.kind == Collective::AllReduce && bytes_of(operation) <= 4096;
}

DISTRIBUTE_INLINE void WindowTransport::dispatch(const Operation& operation) {
  switch (operation.kind) {
    case Collective::Send: return send();
    case Collective::Receive: return receive();
    default: begin(operation, operation.input);
  }
  switch (operation.kind) {
    case Collective::AllReduce:
      if (all_in_arenas()) return all_reduce_in_place();
      return is_small(operation) ? all_reduce_small() : all_reduce_blocks();
    case Collective::Reduce: return reduce();
    case Collective::Broadcast: return broadcast();
    case Collective::AllGather:
    case Collective::Gather: return all_gather();
    case Collective::ReduceScatter:
    case Collective::AllToAll: return exchange_pieces();
    default: return;  // a barrier ends where it began
  }
}

/// Begins an operation: the ranks compare their operations. Small reductions send their data in the
/// same step.
DISTRIBUTE_INLINE void WindowTransport::begin(const Operation& operation, const void* array) {
  Window::Place& place = window_->place(rank_);
  const Signature signature = signature_of(operation);
  const auto arena = shared_memory(rank_);
  const auto* address = static_cast<const std::byte*>(array);
  const bool inside = address >= arena.data() && address < arena.data() + arena.size();
  place.signatures[step_ % 2] = signature;
  const bool in_place = inside && operation.output == operation.input;
  place.arena_offsets[step_ % 2] = in_place ? address - arena.data() : -1;
  if (is_small(operation) && operation.count)
    copy_memory(write_slot(), array, size_t(bytes_of(operation)));
  exchange();
  for (int peer = 0; peer < size(); ++peer)
    check_same(signature, rank_, window_->place(peer).signatures[(step_ - 1) % 2], peer);
}

DISTRIBUTE_INLINE void WindowTransport::exchange() {
  window_->place(rank_).arrived.advance();
  ++step_;
  for (int i = 1; i < size(); ++i) {
    const int peer = (rank_ + i) % size();
    wait_for(window_->place(peer).arrived, step_, peer);
  }
}

/// Waits until `counter` has reached `value`.
DISTRIBUTE_INLINE void WindowTransport::wait_for(SharedCounter& counter, uint32_t value, int peer) {
  for (int round = 0;; ++round) {
    const bool left = departures_.any() && departures_.has(peer);  // before its counter is read
    const uint32_t seen = counter.value.load(std::memory_order_acquire);
    if (int32_t(seen - value) >= 0) return;
    check_peer(peer);
    if (left) departures_.throw_if_left(peer, rank_, *operation_);
    if (round > patience_.yields() && operation_->deadline.passed()) throw_late(peer);
    wait_while(counter, seen, round, patience_);
  }
}

DISTRIBUTE_INLINE void WindowTransport::check_peer(int peer) const {
  aborted_.throw_if_set();
  const Window::Place& place = window_->place(peer);
  if (!place.failed.load(std::memory_order_acquire)) return;
  throw UnavailableError(str_cat(window_->name(peer, peer), " has failed: ", place.failure));
}

DISTRIBUTE_INLINE void WindowTransport::throw_late(int peer) const {
  std::string late = window_->name(peer, peer);
  for (int other = 0; other < size(); ++other) {
    const uint32_t arrived = window_->place(other).arrived.value.load();
    if (other != peer && other != rank_ && int32_t(arrived - step_) < 0)
      late += ", " + window_->name(other, other);
  }
  throw DeadlineExceededError(str_cat(to_string(signature_of(*operation_)),
                                      ": the time is over; rank ", rank_,
                                      " has heard nothing from ", late));
}

DISTRIBUTE_INLINE const std::byte* WindowTransport::input(int64_t element) const {
  return static_cast<const std::byte*>(operation_->input) + element * element_bytes();
}

DISTRIBUTE_INLINE std::byte* WindowTransport::output(int64_t element) const {
  return static_cast<std::byte*>(operation_->output) + element * element_bytes();
}

/// All ranks' arrays were brought along by begin(); each rank sums all of them.
DISTRIBUTE_INLINE void WindowTransport::all_reduce_small() {
  std::vector<const void*> arrays;
  for (int peer = 0; peer < size(); ++peer) arrays.push_back(read_slot(peer));
  combine(operation_->op, operation_->dtype, arrays, operation_->output, operation_->count);
}

DISTRIBUTE_INLINE void WindowTransport::all_reduce_blocks() {
  const int64_t most = Window::kSlotBytes / element_bytes();
  for (int64_t begin = 0; begin < operation_->count; begin += most)
    reduce_block(begin, std::min(most, operation_->count - begin));
}

/// Slices of a block lie in the slots where they lie in the block. What a rank will sum itself it
/// reads from its own array.
DISTRIBUTE_INLINE void WindowTransport::reduce_block(int64_t begin, int64_t count) {
  const int64_t bytes = element_bytes(), first = count * rank_ / size(),
                last = count * (rank_ + 1) / size();
  std::byte* slot = write_slot();
  copy_memory(slot, input(begin), size_t(first * bytes));
  copy_memory(slot + last * bytes, input(begin + last), size_t((count - last) * bytes));
  exchange();
  constexpr int64_t kChunk = 2048;  // the sum goes to two places while it is in the cache
  slot = write_slot();
  std::vector<const void*> parts(static_cast<size_t>(size()));
  for (int64_t at = first; at < last; at += kChunk) {
    const int64_t length = std::min(kChunk, last - at);
    for (int peer = 0; peer < size(); ++peer)
      parts[size_t(peer)] = peer == rank_ ? input(begin + at) : read_slot(peer) + at * bytes;
    combine(operation_->op, operation_->dtype, parts, output(begin + at), length);
    copy_memory(slot + at * bytes, output(begin + at), size_t(length * bytes));
  }
  exchange();
  for (int i = 1; i < size(); ++i) {
    const int peer = (rank_ + i) % size();
    const int64_t from = count * peer / size(), to = count * (peer + 1) / size();
    copy_memory(output(begin + from), read_slot(peer) + from * bytes, size_t((to - from) * bytes));
  }
}

DISTRIBUTE_INLINE bool WindowTransport::all_in_arenas() const {
  if (is_small(*operation_)) return false;
  for (int peer = 0; peer < size(); ++peer)
    if (window_->place(peer).arena_offsets[(step_ - 1) % 2] < 0) return false;
  return true;
}

DISTRIBUTE_INLINE void WindowTransport::all_reduce_in_place() {
  std::vector<std::byte*> arrays;
  for (int peer = 0; peer < size(); ++peer)
    arrays.push_back(window_->arena(peer).data() +
                     window_->place(peer).arena_offsets[(step_ - 1) % 2]);
  const int64_t bytes = element_bytes(), line = 64 / bytes;
  const auto edge = [&](int rank) {  // whole cache lines
    return rank == size() ? operation_->count : operation_->count / line * rank / size() * line;
  };
  constexpr int64_t kChunk = 2048;
  std::vector<const void*> parts(arrays.size());
  for (int64_t at = edge(rank_); at < edge(rank_ + 1); at += kChunk) {
    const int64_t length = std::min(kChunk, edge(rank_ + 1) - at);
    for (size_t peer = 0; peer < arrays.size(); ++peer) parts[peer] = arrays[peer] + at * bytes;
    combine(operation_->op, operation_->dtype, parts, output(at), length);
    for (int peer = 0; peer < size(); ++peer)
      if (peer != rank_)
        copy_memory(arrays[size_t(peer)] + at * bytes, output(at), size_t(length * bytes));
  }
  exchange();
}

DISTRIBUTE_INLINE void WindowTransport::reduce() {
  const int64_t most = Window::kSlotBytes / element_bytes();
  const bool root = rank_ == operation_->peer;
  for (int64_t begin = 0; begin < operation_->count; begin += most) {
    const int64_t count = std::min(most, operation_->count - begin);
    if (!root) copy_memory(write_slot(), input(begin), size_t(count * element_bytes()));
    exchange();
    if (!root) continue;
    std::vector<const void*> parts;
    for (int peer = 0; peer < size(); ++peer)
      parts.push_back(peer == rank_ ? input(begin) : read_slot(peer));
    combine(operation_->op, operation_->dtype, parts, output(begin), count);
  }
}

DISTRIBUTE_INLINE void WindowTransport::broadcast() {
  const int64_t bytes = bytes_of(*operation_);
  auto* data = static_cast<std::byte*>(operation_->output);
  for (int64_t begin = 0; begin < bytes; begin += Window::kSlotBytes) {
    const size_t count = size_t(std::min(Window::kSlotBytes, bytes - begin));
    if (rank_ == operation_->peer) copy_memory(write_slot(), data + begin, count);
    exchange();
    if (rank_ != operation_->peer) copy_memory(data + begin, read_slot(operation_->peer), count);
  }
}

DISTRIBUTE_INLINE int64_t WindowTransport::count_of(int rank) const {
  return operation_->counts.empty() ? operation_->count : operation_->counts[size_t(rank)];
}

DISTRIBUTE_INLINE int64_t WindowTransport::offset_of(int rank) const {
  return operation_->counts.empty() ? operation_->count * rank
                                    : total(operation_->counts.first(size_t(rank)));
}

DISTRIBUTE_INLINE void WindowTransport::all_gather() {
  const int64_t bytes = element_bytes(), most = Window::kSlotBytes / bytes;
  const int64_t longest = *std::max_element(operation_->counts.begin(), operation_->counts.end());
  const auto length = [&](int rank, int64_t begin) {
    return size_t(std::clamp<int64_t>(count_of(rank) - begin, 0, most) * bytes);
  };
  for (int64_t begin = 0; begin < longest; begin += most) {
    if (length(rank_, begin)) copy_memory(write_slot(), input(begin), length(rank_, begin));
    exchange();
    if (!operation_->output) continue;
    for (int peer = 0; peer < size(); ++peer)
      if (length(peer, begin))
        copy_memory(output(offset_of(peer) + begin), read_slot(peer), length(peer, begin));
  }
}

DISTRIBUTE_INLINE void WindowTransport::exchange_pieces() {
  const int64_t bytes = element_bytes(), most = Window::kSlotBytes / size() / 64 * 64 / bytes;
  int64_t longest = operation_->count;
  for (int64_t count : operation_->counts) longest = std::max(longest, count);
  for (int64_t begin = 0; begin < longest; begin += most) {
    for (int peer = 0; peer < size(); ++peer) {
      const int64_t count = std::clamp<int64_t>(count_of(peer) - begin, 0, most);
      if (count)
        copy_memory(write_slot() + peer * most * bytes, input(offset_of(peer) + begin),
                    size_t(count * bytes));
    }
    exchange();
    take_pieces(begin, most);
  }
}

/// Takes the pieces that every rank has written for this one.
DISTRIBUTE_INLINE void WindowTransport::take_pieces(int64_t begin, int64_t most) {
  const int64_t count = std::clamp<int64_t>(count_of(rank_) - begin, 0, most);
  std::vector<const void*> pieces;
  for (int peer = 0; peer < size(); ++peer)
    pieces.push_back(read_slot(peer) + rank_ * most * element_bytes());
  if (operation_->kind == Collective::ReduceScatter) {
    if (count) combine(operation_->op, operation_->dtype, pieces, output(begin), count);
    return;
  }
  for (int peer = 0; peer < size(); ++peer)
    copy_memory(output(offset_of(peer) + begin), pieces[size_t(peer)],
                size_t(count * element_bytes()));
}

/// Mail holds one piece; the first carries the signature before it.
DISTRIBUTE_INLINE void WindowTransport::send() {
  Window::Channel& channel = window_->channel(rank_, operation_->peer);
  std::byte* mail = window_->mail(rank_, operation_->peer);
  const int64_t bytes = bytes_of(*operation_);
  const Signature header = signature_of(*operation_);
  for (int64_t begin = -int64_t(sizeof header); begin < bytes;) {
    wait_for(channel.taken, channel.written.value.load(), operation_->peer);
    const int64_t head = begin < 0 ? int64_t(sizeof header) : 0;
    if (head) std::memcpy(mail, &header, sizeof header);
    begin = std::max<int64_t>(begin, 0);
    const int64_t length = std::min(Window::kMailBytes - head, bytes - begin);
    if (length) copy_memory(mail + head, input(0) + begin, size_t(length));
    channel.written.advance();
    begin += length;
    if (begin >= bytes) break;
  }
}

DISTRIBUTE_INLINE void WindowTransport::receive() {
  Window::Channel& channel = window_->channel(operation_->peer, rank_);
  const std::byte* mail = window_->mail(operation_->peer, rank_);
  const int64_t bytes = bytes_of(*operation_);
  int64_t at = 0;
  bool first = true;
  do {
    wait_for(channel.written, channel.taken.value.load() + 1, operation_->peer);
    int64_t head = 0;
    if (first) {
      Signature sent;
      std::memcpy(&sent, mail, sizeof sent);
      if (sent.dtype != operation_->dtype || sent.count != operation_->count)
        check_same(signature_of(*operation_), rank_, sent, operation_->peer);
      head = sizeof sent;
      first = false;
    }
    const int64_t length = std::min(Window::kMailBytes - head, bytes - at);
    if (length) copy_memory(output(0) + at, mail + head, size_t(length));
    channel.taken.advance();
    at += length;
  } while (at < bytes);
}

}  // namespace distribute::collective
