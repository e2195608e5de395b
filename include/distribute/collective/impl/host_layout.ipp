#pragma once
#include <distribute/collective/detail/host_layout.hpp>

#include <algorithm>
#include <map>

namespace distribute::collective {

DISTRIBUTE_INLINE HostLayout::HostLayout(const std::vector<int>& host_of_rank) {
  std::map<int, int> numbers;
  for (size_t rank = 0; rank < host_of_rank.size(); ++rank) {
    const auto [at, is_new] = numbers.try_emplace(host_of_rank[rank], hosts());
    if (is_new) members_.emplace_back();
    hosts_.push_back(at->second);
    members_[size_t(at->second)].push_back(int(rank));
  }
}

DISTRIBUTE_INLINE int HostLayout::local_index(int rank) const {
  const std::vector<int>& mine = members(host_of(rank));
  return int(std::lower_bound(mine.begin(), mine.end(), rank) - mine.begin());
}

DISTRIBUTE_INLINE int HostLayout::most_members() const {
  size_t most = 0;
  for (const auto& ranks : members_) most = std::max(most, ranks.size());
  return int(most);
}

DISTRIBUTE_INLINE bool HostLayout::is_contiguous() const {
  return std::is_sorted(hosts_.begin(), hosts_.end());
}

}  // namespace distribute::collective
