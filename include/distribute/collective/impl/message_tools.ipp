#pragma once
#include <distribute/collective/detail/message_tools.hpp>

#include <algorithm>
#include <cstring>

namespace distribute::collective {

DISTRIBUTE_INLINE std::byte* Scratch::take(int64_t bytes) {
  if (bytes > bytes_) {
    memory_.reset();
    memory_.reset(new std::byte[size_t(bytes)]);
    bytes_ = bytes;
  }
  return memory_.get();
}

DISTRIBUTE_INLINE Parts::Parts(std::span<const int64_t> counts, int64_t segment)
    : begins_(1, 0), segment_(segment) {
  for (int64_t count : counts) begins_.push_back(begins_.back() + count);
}

DISTRIBUTE_INLINE Parts Parts::equal(int64_t count, int ranks, int64_t segment) {
  std::vector<int64_t> counts;
  for (int r = 0; r < ranks; ++r) counts.push_back(count / ranks + (r < count % ranks));
  return Parts(counts, segment);
}

DISTRIBUTE_INLINE int64_t Parts::segments(int part) const {
  return std::max<int64_t>(1, (count(part) + segment_ - 1) / segment_);
}

DISTRIBUTE_INLINE int64_t Parts::segment_count(int part, int64_t number) const {
  return std::min(segment_, count(part) - number * segment_);
}

DISTRIBUTE_INLINE void send_in_pieces(Messages& messages, int to, std::span<const std::byte> bytes,
                                      int64_t piece_bytes) {
  size_t begin = 0;
  for (int64_t i = 0; i == 0 || begin < bytes.size(); ++i, begin += size_t(piece_bytes))
    messages.send(to, tag_of(0, i),
                  bytes.subspan(begin, std::min(size_t(piece_bytes), bytes.size() - begin)));
}

DISTRIBUTE_INLINE void receive_in_pieces(Messages& messages, int from, std::span<std::byte> out,
                                         int64_t piece_bytes) {
  size_t begin = 0;
  for (int64_t i = 0; i == 0 || begin < out.size(); ++i, begin += size_t(piece_bytes))
    messages.receive(from, tag_of(0, i),
                     out.subspan(begin, std::min(size_t(piece_bytes), out.size() - begin)));
}

DISTRIBUTE_INLINE void copy_bytes(void* to, const void* from, int64_t bytes) {
  if (bytes > 0 && to != from) std::memmove(to, from, size_t(bytes));
}

}  // namespace distribute::collective
