#pragma once
/// How far a task gets on its way to another one, and how fast the way is.

#include <distribute/base/version.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_tasks.hpp>
#include <distribute/net/deadline.hpp>

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace distribute {
class ClusterRuntime;
}

namespace distribute_tools {

/// What the tasks of a job call a connection of the doctor.
inline constexpr const char* kDoctorPurpose = "doctor";

/// The way to one task: name, connection, proof of the token.
struct Way {
  std::string step = {};  // that failed: "name", "connect" or "handshake"; empty: none
  std::string problem = {};
  double name_seconds = 0;  // that the resolver took
  bool reached() const { return step.empty(); }
};

/// Opens this task's port, says hello to every other task until it answers or `deadline` has
/// passed, and lets them do the same here. By rank; this task's own way is empty.
/// Throws  FailedPreconditionError when the port cannot be opened.
std::vector<Way> find_ways(const distribute::ClusterTasks& tasks,
                           const distribute::ClusterOptions& options,
                           distribute::net::Deadline deadline);

/// What two tasks measured between them.
struct Line {
  int from = 0, to = 0;
  bool one_host = false;
  std::string problem = {};  // why there is nothing else
  double latency_p50 = 0;    // seconds, there and back, 64 bytes
  double latency_p99 = 0;
  double forth = 0, back = 0;  // bytes per second
  double clock_offset = 0;     // seconds that `to`'s clock is ahead
  int mtu = 0;                 // bytes, of the path
  double lost_share = 0;       // of the segments, sent again

  nlohmann::ordered_json json() const;
  static Line from_json(const nlohmann::ordered_json& json);
};

/// What the doctor of each task tells the others before they measure anything.
struct Introduction {
  std::string version = distribute::kVersion;  // of the library
  std::vector<int> unreached = {};             // ranks
};

/// By rank. Blocks until all tasks are there. Throws  what the runtime throws.
std::vector<Introduction> introduce(distribute::ClusterRuntime& runtime, const Introduction& self);

/// All pairs one after the other, side by side where they share no task; gives what this task
/// knows. Pairs of which one has not reached the other are left out. Blocks  about half a second
/// for each task. Throws  what the runtime throws.
std::vector<Line> measure_lines(distribute::ClusterRuntime& runtime,
                                const std::vector<Introduction>& tasks);
/// What all tasks know, on every task. Throws  what the runtime throws.
std::vector<Line> gather_lines(distribute::ClusterRuntime& runtime, const std::vector<Line>& mine);

}  // namespace distribute_tools
