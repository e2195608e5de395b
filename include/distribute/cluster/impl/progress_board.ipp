#pragma once
#include <distribute/cluster/detail/progress_board.hpp>
#include <distribute/net/bytes.hpp>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE void ProgressBoard::set(int rank, std::string_view text) {
  text = text.substr(0, kProgressBytes);
  if (texts_[size_t(rank)] == text) return;
  texts_[size_t(rank)] = text;
  changed_[size_t(rank)] = ++clock_;
}

DISTRIBUTE_INLINE std::string ProgressBoard::changes(uint64_t& seen) const {
  net::ByteWriter writer;
  for (size_t rank = 0; rank < texts_.size(); ++rank)
    if (changed_[rank] > seen) writer.number(uint32_t(rank)).text(texts_[rank]);
  seen = clock_;
  return writer.take();
}

DISTRIBUTE_INLINE void ProgressBoard::apply(std::string_view changes) {
  net::ByteReader reader(changes);
  while (reader.ok() && !reader.finished()) {
    const auto rank = reader.number<uint32_t>();
    const std::string_view text = reader.text();
    if (reader.ok() && rank < texts_.size()) set(int(rank), text);
  }
}

}  // namespace distribute::cluster_internal
