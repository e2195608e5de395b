#pragma once
/// Which ranks of a group live on which host.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <vector>

namespace distribute::collective {

/// Hosts are numbered in the order in which the ranks meet them. A plain value.
class HostLayout {
 public:
  /// `host_of_rank`: any numbers, equal for ranks of one host.
  explicit HostLayout(const std::vector<int>& host_of_rank);

  int ranks() const { return int(hosts_.size()); }
  int hosts() const { return int(members_.size()); }
  int host_of(int rank) const { return hosts_[size_t(rank)]; }
  /// The ranks of a host, in rank order.
  const std::vector<int>& members(int host) const { return members_[size_t(host)]; }
  /// The place of the rank among those of its host.
  int local_index(int rank) const;
  /// The ranks of the fullest host.
  int most_members() const;
  /// Whether the ranks of every host follow each other, so that a running sum in rank order visits
  /// each host once.
  bool is_contiguous() const;

 private:
  std::vector<int> hosts_;
  std::vector<std::vector<int>> members_;
};

}  // namespace distribute::collective
