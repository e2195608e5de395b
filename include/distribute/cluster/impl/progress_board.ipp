#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/progress_board.hpp>

#include <algorithm>
#include <map>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE std::string place_of(const std::string& position) {
  return position.substr(0, std::min(position.rfind(" for "), position.rfind(" ended ")));
}

DISTRIBUTE_INLINE std::vector<ProgressGroup> group_progress(
    const std::vector<std::string>& positions) {
  constexpr size_t kGroups = 20, kRanks = 10;
  std::map<std::string, ProgressGroup> by_place;
  for (size_t rank = 0; rank < positions.size(); ++rank) {
    const std::string place = place_of(positions[rank]);
    ProgressGroup& group = by_place[place];
    group.place = place;
    if (++group.tasks <= kRanks) group.ranks.push_back(uint32_t(rank));
  }
  std::vector<ProgressGroup> groups;
  for (auto& [place, group] : by_place) groups.push_back(std::move(group));
  std::sort(groups.begin(), groups.end(), [](const ProgressGroup& a, const ProgressGroup& b) {
    return std::pair(a.tasks, a.ranks[0]) < std::pair(b.tasks, b.ranks[0]);
  });
  for (; groups.size() > kGroups; groups.erase(groups.end() - 2)) {
    ProgressGroup& rest = groups[groups.size() - 3];  // the largest group stays the last
    rest.place = "in other places";
    rest.tasks += groups[groups.size() - 2].tasks;
  }
  return groups;
}

DISTRIBUTE_INLINE std::string names_of(const ProgressGroup& group,
                                       const std::function<std::string(int rank)>& describe) {
  constexpr size_t kNames = 3;
  std::string text;
  const size_t shown =
      std::min(group.ranks.size(), group.tasks == kNames + 1 ? kNames + 1 : kNames);
  for (size_t i = 0; i < shown; ++i) text += str_cat(i ? ", " : "", describe(int(group.ranks[i])));
  return group.tasks > shown ? str_cat(text, " and ", group.tasks - shown, " more") : text;
}

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
