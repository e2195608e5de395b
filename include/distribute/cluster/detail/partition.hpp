#pragma once
/// Which tasks of a job do not reach each other.

#include <distribute/base/config.hpp>

#include <functional>
#include <set>
#include <string>
#include <utility>

namespace distribute::cluster_internal {

/// Collects pairs of ranks. All reach rank 0, which leads. A value.
class Partition {
 public:
  void clear() { pairs_.clear(); }
  bool empty() const { return pairs_.empty(); }
  void add(int one, int other);

  /// The ranks without which all others reach each other: few of them, of two alike the higher one,
  /// never rank 0.
  std::set<int> smaller_side() const;
  /// One sentence that names pairs, time and cure. `name` tells what to call a rank, `leader` is
  /// the name of rank 0.
  std::string text(const std::function<std::string(int)>& name, const std::string& leader,
                   double seconds) const;

 private:
  std::set<std::pair<int, int>> pairs_;  // the lower rank first
};

}  // namespace distribute::cluster_internal
