#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/partition.hpp>

#include <algorithm>
#include <map>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE void Partition::add(int one, int other) {
  pairs_.insert(std::minmax({one, other}));
}

/// Chooses repeatedly the rank that is in most pairs.
DISTRIBUTE_INLINE std::set<int> Partition::smaller_side() const {
  std::set<int> side;
  for (auto pairs = pairs_; !pairs.empty();) {
    std::map<int, int> counts;
    for (const auto& [low, high] : pairs) ++counts[low], ++counts[high];
    const int most =
        std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
          return std::pair(a.second, a.first) < std::pair(b.second, b.first);
        })->first;
    side.insert(most);
    std::erase_if(pairs, [&](const auto& p) { return p.first == most || p.second == most; });
  }
  return side;
}

DISTRIBUTE_INLINE std::string Partition::text(const std::function<std::string(int)>& name,
                                              const std::string& leader, double seconds) const {
  constexpr size_t kShown = 5;
  std::string text;
  size_t shown = 0;
  for (const auto& [low, high] : pairs_)
    if (shown++ < kShown) text += str_cat(shown > 1 ? ", " : "", name(low), " and ", name(high));
  if (pairs_.size() > kShown) text += str_cat(" and ", pairs_.size() - kShown, " more pairs");
  return str_cat(text, " do not reach each other, though all reach ", leader,
                 ": nothing came through for ", seconds,
                 " s (DISTRIBUTE_LOST_AFTER); look at routes and firewalls between their hosts");
}

}  // namespace distribute::cluster_internal
