#pragma once
/// Finds tasks of a job that do not reach each other.

#include <distribute/base/config.hpp>

#include <functional>
#include <set>
#include <string>
#include <utility>

namespace distribute::cluster_internal {

/// Collects pairs of ranks that do not reach each other. All reach rank 0, which leads.
class Partition {
 public:
  void clear() { pairs_.clear(); }
  bool empty() const { return pairs_.empty(); }
  void add(int one, int other);

  /// Returns a small set of ranks without which all others reach each other; of two equal choices
  /// the higher rank, and never rank 0.
  std::set<int> smaller_side() const;
  /// Returns one sentence that names pairs, time and remedy. `name` returns the name of a rank,
  /// `leader` is the name of rank 0.
  std::string text(const std::function<std::string(int)>& name, const std::string& leader,
                   double seconds) const;

 private:
  std::set<std::pair<int, int>> pairs_;  // the lower rank first
};

}  // namespace distribute::cluster_internal
