#pragma once
#include <distribute/cluster/detail/elastic_message.hpp>

#include <algorithm>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE absl::StatusOr<MeetResult> parse_result(std::string_view text, int workers) {
  auto result = net::parse_message<MeetResult>(text, "generation");
  if (!result.ok()) return result;
  const std::vector<int>& members = result->members;
  const bool sorted = std::is_sorted(members.begin(), members.end());
  if (members.empty() || !sorted || members[0] < 0 || members.back() >= workers ||
      members.size() > size_t(workers) || result->current.size() != members.size())
    return absl::InvalidArgumentError("the list of the next generation's members is damaged");
  return result;
}

DISTRIBUTE_INLINE MeetResult choose_members(const std::vector<std::pair<int, MeetRequest>>& all,
                                            int most) {
  std::vector<std::pair<int, MeetRequest>> chosen = all;
  const auto by_index = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::sort(chosen.begin(), chosen.end(), by_index);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const auto& a, const auto& b) { return a.second.state > b.second.state; });
  MeetResult result;
  result.state = chosen.at(0).second.state;
  if (chosen.size() > size_t(most)) chosen.resize(size_t(most));
  std::sort(chosen.begin(), chosen.end(), by_index);
  for (const auto& [index, request] : all) result.number = std::max(result.number, request.seen);
  ++result.number;
  for (const auto& [index, request] : chosen) {
    // In the first generation no worker has a state yet, so all start with that of the first one.
    const bool counts = result.state.generation > 0 || result.members.empty();
    result.members.push_back(index);
    result.current.push_back(counts && request.state == result.state);
  }
  return result;
}

}  // namespace distribute::cluster_internal
