#pragma once
/// Measures the speed of the network between each pair of tasks.

#include <distribute/base/config.hpp>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace distribute {

class ClusterRuntime;

/// Measurement between two tasks.
struct NetworkLine {
  int from = 0, to = 0;
  bool one_host = false;
  std::string problem = {};  // why nothing was measured
  double latency_p50 = 0;    // seconds for a round trip of 64 bytes
  double latency_p99 = 0;
  double forth = 0, back = 0;  // bytes per second
  double clock_offset = 0;     // seconds that `to`'s clock is ahead
  int mtu = 0;                 // bytes, of the path
  double lost_share = 0;       // share of the segments that were sent again

  /// Returns the message that tasks exchange.
  nlohmann::ordered_json json() const;
  static NetworkLine from_json(const nlohmann::ordered_json& json);
};

/// Measures all pairs, in parallel if they have no task in common; returns the measures that this
/// task took part in. `unreached` are, by rank, the tasks that it has not reached; such pairs are
/// left out. All tasks call it with the same list.
/// Blocks  about half a second for each task.
/// Throws  what the runtime throws.
std::vector<NetworkLine> measure_network_lines(ClusterRuntime& runtime,
                                               const std::vector<std::vector<int>>& unreached = {});
/// Returns the measures of all tasks, on every task. Throws  what the runtime throws.
std::vector<NetworkLine> gather_network_lines(ClusterRuntime& runtime,
                                              const std::vector<NetworkLine>& mine);

}  // namespace distribute
