#pragma once
/// Position of a rank among the hosts of its job.

#include <distribute/base/config.hpp>

#include <vector>

namespace distribute::horovod_internal {

struct RankPlace {
  int local_rank = 0, local_size = 1;  // among the ranks of its host
  int cross_rank = 0, cross_size = 1;  // among the hosts that have a rank of this local rank
  bool homogeneous = true;             // every host has the same number of ranks
};

/// Finds the position of `rank`; `hosts` gives the host of each rank.
RankPlace place_of_rank(int rank, const std::vector<int>& hosts);

}  // namespace distribute::horovod_internal
