#pragma once
#include <distribute/horovod/detail/rank_place.hpp>

#include <algorithm>
#include <map>

namespace distribute::horovod_internal {

DISTRIBUTE_INLINE RankPlace place_of_rank(int rank, const std::vector<int>& hosts) {
  const int mine = hosts[size_t(rank)];
  RankPlace place;
  place.local_rank = int(std::count(hosts.begin(), hosts.begin() + rank, mine));
  place.local_size = int(std::count(hosts.begin(), hosts.end(), mine));
  place.cross_size = 0;
  std::map<int, int> ranks;  // number of ranks seen on each host
  for (int r = 0; r < int(hosts.size()); ++r) {
    if (ranks[hosts[size_t(r)]]++ != place.local_rank) continue;
    place.cross_rank += r < rank;
    ++place.cross_size;
  }
  place.homogeneous = std::all_of(ranks.begin(), ranks.end(), [&](const auto& host) {
    return host.second == ranks.begin()->second;
  });
  return place;
}

}  // namespace distribute::horovod_internal
