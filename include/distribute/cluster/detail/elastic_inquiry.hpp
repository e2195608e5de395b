#pragma once
/// Asks the other workers of an elastic job which of them leads.

#include <distribute/cluster/detail/elastic_message.hpp>
#include <distribute/cluster/detail/task_server.hpp>

#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <string>

namespace distribute::cluster_internal {

/// Answer of another worker.
enum class MeetAnswer {
  NotThere,  // its port is closed
  Silent,    // perhaps frozen
  Trains,    // is rank 0, and keeps workers that want to join while they are connected
  Leads,     // gathers workers for the next generation
  Looks,     // looks for a leader, and may become one
  Follows,   // waits for another leader
};
struct MeetReply {
  MeetAnswer answer = MeetAnswer::NotThere;
  int leader = -1;  // index
  net::Socket socket = {};

  bool leads() const { return answer == MeetAnswer::Trains || answer == MeetAnswer::Leads; }
  bool keeps() const { return leads() || answer == MeetAnswer::Looks; }
};

/// One thread.
struct ElasticInquiry {
  using Clock = net::Deadline::Clock;

  MeetReply ask(int index, bool wait_there = false);
  absl::StatusOr<net::Socket> reach(int index, const MeetRequest& request, net::Deadline deadline);
  MeetReply read_reply(int index, net::Socket socket, net::Deadline deadline);
  MeetReply ask_for_leader(int index);
  MeetReply find_leader(int known_leader);
  MeetReply lower_leader();

  const ClusterTasks& tasks;
  const ClusterOptions& options;
  const std::string& agreement;  // canonical JSON
  std::shared_ptr<TaskServer> server = {};
  MeetRequest mine = {};
  // the job has finished, or this worker has given up
  bool finished = false;
  std::map<int, Clock::time_point> silent_until = {};  // not to be asked before this time
};

}  // namespace distribute::cluster_internal
