#pragma once
/// Connections of a group whose ranks live in the tasks of a job.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/detail/links.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace distribute::collective {

/// One rank of a group. All its ranks have the same name, number and tasks.
struct GroupPlace {
  std::string name;
  int number = 0;          // distinguishes groups of one name
  int rank = 0;            // in the group
  std::vector<int> tasks;  // of each rank of the group
};

/// Connects to the ports of the other tasks; the ranks of this task have connections already.
/// Thread-safe.
class GroupLinks final : public Links {
 public:
  GroupLinks(std::shared_ptr<ClusterRuntime> runtime, GroupPlace place);
  DISTRIBUTE_INLINE ~GroupLinks() override;

  DISTRIBUTE_INLINE void start(std::function<void()> wake) override;
  DISTRIBUTE_INLINE std::string name(int rank) const override;
  DISTRIBUTE_INLINE int most_flows(int rank) const override;
  DISTRIBUTE_INLINE int most_connections() const override;
  DISTRIBUTE_INLINE net::Socket dial(int rank, net::Deadline deadline) override;
  DISTRIBUTE_INLINE std::vector<Arrived> arrived() override;
  DISTRIBUTE_INLINE void close(const std::string& farewell) override;

 private:
  std::string purpose(int rank) const;
  void take(int task, const std::string& detail, net::Socket socket);
  void part(net::Socket socket);
  bool is_near(int rank) const;

  const std::shared_ptr<ClusterRuntime> runtime_;
  const GroupPlace place_;
  std::function<void()> wake_;
  std::mutex mutex_;  // guards the members below
  std::vector<Arrived> arrived_;
  bool closed_ = false;
  std::string farewell_;
  std::vector<net::Socket> parted_;  // open, so that the other end reads the farewell
};

/// Makes the first connection to a rank of another task, which does the same.
net::Socket first_link(ClusterRuntime& runtime, const GroupPlace& place, int peer);
/// Raises the limit of open files to what `ranks_here` ranks of a group of `ranks` may need.
/// Throws  ResourceExhaustedError with limit, need and remedy, also on the other tasks, if it is
///         too low even for the first peers.
void prepare_links(ClusterRuntime& runtime, int ranks_here, int ranks);

}  // namespace distribute::collective
