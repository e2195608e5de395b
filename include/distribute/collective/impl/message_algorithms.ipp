#pragma once
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/combine.hpp>
#include <distribute/collective/detail/message_algorithms.hpp>
#include <distribute/collective/detail/tree_reduction.hpp>

#include <algorithm>

namespace distribute::collective {

/// Runs an operation of a group of one, whose result is the input.
DISTRIBUTE_INLINE void run_alone(const Operation& operation) {
  if (operation.kind == Collective::Barrier || operation.output == nullptr) return;
  copy_bytes(operation.output, operation.input, bytes_of(operation));
}

DISTRIBUTE_INLINE void MessageAlgorithms::run(const Operation& operation) {
  const std::span<const std::byte> input = bytes_at(operation.input, 0, bytes_of(operation));
  if (messages_.size() == 1) return run_alone(operation);
  switch (operation.kind) {
    case Collective::AllReduce: return all_reduce(operation);
    case Collective::Reduce: return reduce(operation);
    case Collective::ReduceScatter: return reduce_scatter(operation);
    case Collective::AllGather: return all_gather(operation);
    case Collective::Gather: return gather(operation);
    case Collective::Broadcast: return broadcast(operation);
    case Collective::AllToAll: return all_to_all(operation);
    case Collective::Barrier: return barrier();
    case Collective::Send: send_in_pieces(messages_, operation.peer, input, segment_bytes_); break;
    case Collective::Receive:
      receive_in_pieces(messages_, operation.peer,
                        bytes_at(operation.output, 0, bytes_of(operation)), segment_bytes_);
      break;
  }
  messages_.finish();
}

DISTRIBUTE_INLINE void MessageAlgorithms::all_reduce(const Operation& operation) {
  const int64_t bytes = bytes_of(operation);
  switch (choose_algorithm(bytes, messages_.size(), costs_, segment_bytes_)) {
    case AllReduceAlgorithm::Exchange: return reduce_by_exchange(operation);
    case AllReduceAlgorithm::Doubling: return reduce_by_doubling(messages_, scratch_, operation);
    case AllReduceAlgorithm::Direct:
      return DirectReduction(messages_, scratch_, operation, segment_bytes_).run();
    default: return reduce_by_tree(operation);
  }
}

DISTRIBUTE_INLINE void MessageAlgorithms::reduce_by_tree(const Operation& operation) {
  TreeReduction(messages_, scratch_, plan_, operation,
                section_bytes(messages_.size(), costs_, segment_bytes_))
      .run();
}

DISTRIBUTE_INLINE void MessageAlgorithms::reduce_by_exchange(const Operation& operation) {
  const int rank = messages_.rank(), ranks = messages_.size();
  const int64_t bytes = bytes_of(operation);
  std::byte* memory = scratch_.take(bytes * ranks);
  std::vector<const void*> inputs;
  for (int r = 0; r < ranks; ++r) {
    inputs.push_back(r == rank ? operation.input : memory + r * bytes);
    if (r == rank) continue;
    messages_.receive(r, tag_of(0, 0), {memory + r * bytes, size_t(bytes)});
    messages_.send(r, tag_of(0, 0), bytes_at(operation.input, 0, bytes));
  }
  messages_.finish();
  combine(operation.op, operation.dtype, inputs, operation.output, operation.count);
}

/// In round k, a rank receives from the one 2^k above it all arrays that this one has: twice as
/// many each time.
/// Source  Bruck et al. 1997.
DISTRIBUTE_INLINE std::vector<const std::byte*> MessageAlgorithms::bruck(
    std::span<const std::byte> mine, const std::vector<int64_t>& bytes) {
  const int rank = messages_.rank(), ranks = messages_.size();
  std::vector<int64_t> begins = {0};  // of rank (rank + i) % ranks
  for (int i = 0; i < ranks; ++i)
    begins.push_back(begins.back() + bytes[size_t((rank + i) % ranks)]);
  std::byte* memory = scratch_.take(begins.back());
  copy_bytes(memory, mine.data(), int64_t(mine.size()));
  for (int distance = 1; distance < ranks; distance *= 2) {
    const size_t blocks = size_t(std::min(distance, ranks - distance)), first = size_t(distance);
    messages_.receive((rank + distance) % ranks, tag_of(0, distance),
                      {memory + begins[first], size_t(begins[first + blocks] - begins[first])});
    messages_.send((rank + ranks - distance) % ranks, tag_of(0, distance),
                   {memory, size_t(begins[blocks])});
    messages_.finish();
  }
  std::vector<const std::byte*> parts(static_cast<size_t>(ranks));
  for (int i = 0; i < ranks; ++i) parts[size_t((rank + i) % ranks)] = memory + begins[size_t(i)];
  return parts;
}

/// Sends small arrays straight to the root, of few ranks; others are summed by all ranks. (The root
/// of many ranks gets as many bytes in an all-reduce as in any other way.)
DISTRIBUTE_INLINE void MessageAlgorithms::reduce(const Operation& operation) {
  static constexpr int64_t kSmall = 16 << 10;
  const int ranks = messages_.size(), root = operation.peer;
  const int64_t bytes = bytes_of(operation);
  if (ranks > kMostDirectRanks) {
    Operation everywhere = operation;
    if (messages_.rank() != root) everywhere.output = nullptr;
    const bool small =
        choose_algorithm(bytes, ranks, costs_, segment_bytes_) == AllReduceAlgorithm::Doubling;
    return small ? reduce_by_doubling(messages_, scratch_, everywhere) : reduce_by_tree(everywhere);
  }
  if (bytes > kSmall) return DirectReduction(messages_, scratch_, operation, segment_bytes_).run();
  if (messages_.rank() != root) {
    messages_.send(root, tag_of(0, 0), bytes_at(operation.input, 0, bytes), false);
    return messages_.finish();
  }
  std::byte* memory = scratch_.take(bytes * ranks);
  std::vector<const void*> inputs;
  for (int r = 0; r < ranks; ++r) {
    inputs.push_back(r == root ? operation.input : memory + r * bytes);
    if (r != root) messages_.receive(r, tag_of(0, 0), {memory + r * bytes, size_t(bytes)});
  }
  messages_.finish();
  combine(operation.op, operation.dtype, inputs, operation.output, operation.count);
}

DISTRIBUTE_INLINE void MessageAlgorithms::reduce_scatter(const Operation& operation) {
  if (messages_.size() > kMostDirectRanks) return reduce_by_tree(operation);
  DirectReduction(messages_, scratch_, operation, segment_bytes_).run();
}

DISTRIBUTE_INLINE void MessageAlgorithms::all_gather_small(const Operation& operation) {
  const int64_t width = size_of(operation.dtype);
  const Parts parts(operation.counts, 1);
  std::vector<int64_t> bytes;
  for (int64_t count : operation.counts) bytes.push_back(count * width);
  const auto from = bruck(bytes_at(operation.input, 0, bytes[size_t(messages_.rank())]), bytes);
  for (int r = 0; r < messages_.size() && operation.output; ++r)
    copy_bytes(bytes_at(operation.output, parts.begin(r) * width, 0).data(), from[size_t(r)],
               bytes[size_t(r)]);
}

/// Bytes of all parts together up to which many ranks gather in rounds.
inline constexpr int64_t kSmallGather = 64 << 10;

DISTRIBUTE_INLINE void MessageAlgorithms::all_gather(const Operation& operation) {
  const int rank = messages_.rank(), ranks = messages_.size();
  const int64_t width = size_of(operation.dtype);
  const Parts parts(operation.counts, 1);
  const auto mine = bytes_at(operation.input, 0, parts.count(rank) * width);
  const auto place = [&](int r) {
    return bytes_at(operation.output, parts.begin(r) * width, parts.count(r) * width);
  };
  if (ranks > kMostDirectRanks && bytes_of(operation) <= kSmallGather)
    return all_gather_small(operation);
  if (ranks > kMostDirectRanks) return reduce_by_tree(operation);
  for (int step = 1; step < ranks; ++step) {
    const int from = (rank + ranks - step) % ranks;
    receive_in_pieces(messages_, from, place(from), segment_bytes_);
    send_in_pieces(messages_, (rank + step) % ranks, mine, segment_bytes_);
  }
  copy_bytes(place(rank).data(), mine.data(), int64_t(mine.size()));
  messages_.finish();
}

DISTRIBUTE_INLINE void MessageAlgorithms::gather(const Operation& operation) {
  const int rank = messages_.rank(), root = operation.peer;
  if (messages_.size() > kMostDirectRanks && bytes_of(operation) <= kSmallGather) {
    Operation everywhere = operation;
    if (rank != root) everywhere.output = nullptr;
    return all_gather_small(everywhere);
  }
  const int64_t width = size_of(operation.dtype);
  const Parts parts(operation.counts, 1);
  const auto mine = bytes_at(operation.input, 0, parts.count(rank) * width);
  if (rank != root) send_in_pieces(messages_, root, mine, segment_bytes_);
  for (int r = 0; rank == root && r < messages_.size(); ++r) {
    const auto place = bytes_at(operation.output, parts.begin(r) * width, parts.count(r) * width);
    if (r == root)
      copy_bytes(place.data(), mine.data(), int64_t(mine.size()));
    else
      receive_in_pieces(messages_, r, place, segment_bytes_);
  }
  messages_.finish();
}

DISTRIBUTE_INLINE void MessageAlgorithms::broadcast(const Operation& operation) {
  static constexpr int64_t kSmall = 64 << 10;
  const int64_t bytes = bytes_of(operation);
  if (bytes <= kSmall) return broadcast_tree(operation);
  broadcast_pieces(operation, broadcast_children(bytes, messages_.size(), costs_, segment_bytes_));
}

/// Sends along a binomial tree: a rank with the bytes sends them to the rank half the rest away.
DISTRIBUTE_INLINE void MessageAlgorithms::broadcast_tree(const Operation& operation) {
  const int ranks = messages_.size(), root = operation.peer;
  const int me = (messages_.rank() - root + ranks) % ranks;
  const auto data = bytes_at(operation.output, 0, bytes_of(operation));
  int distance = 1;
  while (distance < ranks && (me & distance) == 0) distance *= 2;
  if (me != 0) {
    messages_.receive((me - distance + root) % ranks, tag_of(0, 0), data);
    messages_.finish();
  }
  for (distance /= 2; distance > 0; distance /= 2)
    if (me + distance < ranks)
      messages_.send((me + distance + root) % ranks, tag_of(0, 0), data, false);
  messages_.finish();
}

/// Sends segment by segment, from each rank to one other in a chain, or to two in a binary tree.
DISTRIBUTE_INLINE void MessageAlgorithms::broadcast_pieces(const Operation& operation,
                                                           int children) {
  const int ranks = messages_.size(), root = operation.peer;
  const int me = (messages_.rank() + ranks - root) % ranks;
  const auto data = bytes_at(operation.output, 0, bytes_of(operation));
  std::vector<int> next;
  for (int child = me * children + 1; child <= me * children + children && child < ranks; ++child)
    next.push_back((child + root) % ranks);
  const auto pass_on = [&](int64_t piece) {
    const size_t begin = size_t(piece * segment_bytes_);
    for (int to : next)
      messages_.send(to, tag_of(0, piece),
                     data.subspan(begin, std::min(size_t(segment_bytes_), data.size() - begin)));
  };
  int64_t left = (int64_t(data.size()) + segment_bytes_ - 1) / segment_bytes_;
  for (int64_t piece = 0; me == 0 && piece < left; ++piece) pass_on(piece);
  if (me == 0) return messages_.finish();
  receive_in_pieces(messages_, ((me - 1) / children + root) % ranks, data, segment_bytes_);
  while (left > 0) {
    const Messages::Event event = messages_.next();
    if (event.sent) continue;
    --left;
    pass_on(number_of(event.tag));
  }
  messages_.finish();
}

DISTRIBUTE_INLINE void MessageAlgorithms::all_to_all(const Operation& operation) {
  const int rank = messages_.rank(), ranks = messages_.size();
  const int64_t bytes = bytes_of(operation);
  for (int step = 1; step < ranks; ++step) {
    const int to = (rank + step) % ranks, from = (rank + ranks - step) % ranks;
    receive_in_pieces(messages_, from, bytes_at(operation.output, from * bytes, bytes),
                      segment_bytes_);
    send_in_pieces(messages_, to, bytes_at(operation.input, to * bytes, bytes), segment_bytes_);
  }
  copy_bytes(bytes_at(operation.output, rank * bytes, 0).data(),
             bytes_at(operation.input, rank * bytes, 0).data(), bytes);
  messages_.finish();
}

/// Waits until all ranks have come: each gets a message that depends on all others, in log2(n)
/// rounds.
DISTRIBUTE_INLINE void MessageAlgorithms::barrier() {
  bruck({}, std::vector<int64_t>(size_t(messages_.size()), 0));
}

}  // namespace distribute::collective
