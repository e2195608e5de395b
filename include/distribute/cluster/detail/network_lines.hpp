#pragma once
/// How fast the network between the tasks of a job is, measured for each pair of them.

#include <distribute/base/config.hpp>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace distribute {

class ClusterRuntime;

/// What two tasks measured between them.
struct NetworkLine {
  int from = 0, to = 0;
  bool one_host = false;
  std::string problem = {};  // why there is nothing else
  double latency_p50 = 0;    // seconds, there and back, 64 bytes
  double latency_p99 = 0;
  double forth = 0, back = 0;  // bytes per second
  double clock_offset = 0;     // seconds that `to`'s clock is ahead
  int mtu = 0;                 // bytes, of the path
  double lost_share = 0;       // of the segments, sent again

  /// As tasks send it to each other.
  nlohmann::ordered_json json() const;
  static NetworkLine from_json(const nlohmann::ordered_json& json);
};

/// All pairs one after the other, side by side where they share no task; gives what this task
/// knows. `unreached`: by rank, whom the task has not reached; such pairs are left out. All tasks
/// call it with the same list.
/// Blocks  about half a second for each task.
/// Throws  what the runtime throws.
std::vector<NetworkLine> measure_network_lines(ClusterRuntime& runtime,
                                               const std::vector<std::vector<int>>& unreached = {});
/// What all tasks know, on every task. Throws  what the runtime throws.
std::vector<NetworkLine> gather_network_lines(ClusterRuntime& runtime,
                                              const std::vector<NetworkLine>& mine);

}  // namespace distribute
