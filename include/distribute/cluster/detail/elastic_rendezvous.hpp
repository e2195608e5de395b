#pragma once
/// The port's side of an elastic worker: answers others that look for the one who leads, and keeps
/// those who wait here.

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
  Looks,    // for one who leads
  Leads,    // gathers workers
  Follows,  // waits for one who gathers
  Trains,   // in a generation; its rank 0 keeps workers that want to join
  Finished,
};

/// Thread-safe.
class ElasticRendezvous {
 public:
  /// `options`: canonical JSON that must be equal on all workers.
  ElasticRendezvous(ClusterTasks tasks, std::string options);

  /// The server's thread calls it.
  void take(TaskConnection connection);

  /// `leader`: the index of the worker that leads, or -1. Workers that wait here are sent to it,
  /// unless this worker leads or looks.
  void become(MeetRole role, int leader);
  /// The workers that wait here and have not disconnected.
  std::vector<std::pair<int, MeetRequest>> waiting();
  /// When the last one came; the epoch when none has since the role changed.
  net::Deadline::Clock::time_point last_arrival() const;
  /// Blocks  until the next worker comes, at most until the deadline.
  void wait(net::Deadline deadline);
  /// Sends the result to the members who wait, and becomes one of them.
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
