#pragma once
#include <distribute/collective/detail/cost_model.hpp>
#include <distribute/collective/detail/links.hpp>

#include <algorithm>
#include <cmath>

namespace distribute::collective {

DISTRIBUTE_INLINE std::vector<int> first_peers(int rank, int ranks) {
  std::vector<int> peers;
  if (ranks <= kMostDirectRanks) {
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank) peers.push_back(peer);
    return peers;
  }
  for (int digit = 1; digit < ranks; digit *= 2)
    if ((rank ^ digit) < ranks) peers.push_back(rank ^ digit);
  return peers;
}

DISTRIBUTE_INLINE int most_connections(int ranks) { return int(8 * std::log2(ranks)); }

DISTRIBUTE_INLINE int most_flows(int ranks) {
  if (ranks < 2) return 1;
  const int peers = ranks <= kMostDirectRanks ? ranks - 1 : int(std::ceil(std::log2(ranks)));
  return std::clamp(most_connections(ranks) / peers, 1, 4);
}

}  // namespace distribute::collective
