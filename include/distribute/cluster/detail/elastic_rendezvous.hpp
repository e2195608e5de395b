#pragma once
/// The server side of an elastic worker: answers workers that look for the leader, and keeps the
/// connections of those that wait here.

#include <distribute/cluster/detail/elastic_message.hpp>
#include <distribute/cluster/detail/task_server.hpp>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace distribute::cluster_internal {

enum class MeetRole {
  Looks,    // looks for a leader
  Leads,    // gathers workers
  Follows,  // waits for one who gathers
  Trains,   // member of a generation; its rank 0 keeps workers that want to join
  Finished,
};

/// Keeps the workers that wait here, and the role of this one. Thread-safe.
class ElasticRendezvous {
 public:
  /// `options` is canonical JSON that must be equal on all workers.
  ElasticRendezvous(ClusterTasks tasks, std::string options);

  /// Takes a new connection; the server's thread calls it.
  void take(TaskConnection connection);

  /// Changes this worker's role. `leader` is the index of the worker that leads, or -1. Workers
  /// that wait here are sent to it, unless this worker leads or looks for a leader.
  void become(MeetRole role, int leader);
  /// Returns the workers that wait here and have not disconnected.
  std::vector<std::pair<int, MeetRequest>> waiting();
  /// Returns the time of the last arrival; the epoch when no worker has come since the role
  /// changed.
  net::Deadline::Clock::time_point last_arrival() const;
  /// Blocks  until the next worker comes, at most until the deadline.
  void wait(net::Deadline deadline);
  /// Sends the result to the waiting members; this worker becomes a member, too.
  void announce(const MeetResult& result);

  uint64_t checksum() const { return checksum_; }
  const std::string& options() const { return options_; }

 private:
  struct Waiter {
    net::Socket socket;
    MeetRequest request;
  };
  bool keeps() const;
  void change(MeetRole role, int leader);
  void drop_closed();

  const ClusterTasks tasks_;
  const std::string options_;
  const uint64_t checksum_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  MeetRole role_ = MeetRole::Follows;  // no leader: this worker does not meet others yet
  int leader_ = -1;
  std::map<int, Waiter> waiting_;  // by index
  uint64_t arrivals_ = 0;
  net::Deadline::Clock::time_point last_arrival_{};
};

}  // namespace distribute::cluster_internal
