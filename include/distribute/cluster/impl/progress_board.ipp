#pragma once
#include <distribute/cluster/detail/progress_board.hpp>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE void ProgressBoard::set(int rank, std::string_view text) {
  text = text.substr(0, kProgressBytes);
  if (texts_[size_t(rank)] == text) return;
  texts_[size_t(rank)] = text;
  changed_[size_t(rank)] = ++clock_;
}

DISTRIBUTE_INLINE std::string ProgressBoard::changes(uint64_t& seen) const {
  std::vector<ProgressChange> changes;
  for (size_t rank = 0; rank < texts_.size(); ++rank)
    if (changed_[rank] > seen) changes.push_back({uint32_t(rank), texts_[rank]});
  seen = clock_;
  return changes.empty() ? "" : net::encode_message(changes);
}

DISTRIBUTE_INLINE void ProgressBoard::apply(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto changes = net::parse_message<std::vector<ProgressChange>>(bytes, "progress");
  if (!changes.ok()) return;
  for (const ProgressChange& change : *changes)
    if (change.rank < texts_.size()) set(int(change.rank), change.text);
}

}  // namespace distribute::cluster_internal
