#pragma once
/// Hosts of the ranks of a group.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <vector>

namespace distribute::collective {

/// Hosts are numbered in the order in which ranks name them.
class HostLayout {
 public:
  /// `host_of_rank` holds any numbers, equal for ranks of one host.
  explicit HostLayout(const std::vector<int>& host_of_rank);

  int ranks() const { return int(hosts_.size()); }
  int hosts() const { return int(members_.size()); }
  int host_of(int rank) const { return hosts_[size_t(rank)]; }
  /// Returns the ranks of a host, in rank order.
  const std::vector<int>& members(int host) const { return members_[size_t(host)]; }
  /// Returns the position of the rank among those of its host.
  int local_index(int rank) const;
  /// Returns the largest number of ranks on a host.
  int most_members() const;
  /// Whether the ranks of every host are consecutive, so that a host has whole branches of the
  /// tree in which ranks are summed.
  bool is_contiguous() const;

 private:
  std::vector<int> hosts_;
  std::vector<std::vector<int>> members_;
};

}  // namespace distribute::collective
