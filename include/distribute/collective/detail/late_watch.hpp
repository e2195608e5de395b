#pragma once
/// Logs collectives that take long.

#include <distribute/base/config.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/collective/connect_workers.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace distribute::collective {

/// Checks a worker's collectives at each of its heartbeats. Used by one thread.
class LateWatch {
 public:
  /// `timeout` is that of the collectives. `runtime` is borrowed.
  LateWatch(ClusterRuntime& runtime, const WorkerGroup& group, double timeout);

  /// Returns this worker's position, for the others. A collective that runs for 10, 30, 60 s and so
  /// on is logged in one line, by the first of the workers that wait in it; the runtime is asked to
  /// look for workers that do not reach each other.
  std::string look();

 private:
  struct Watched {
    std::shared_ptr<Communicator> group;
    std::string name;       // of a replica, if there are several
    uint64_t sequence = 0;  // of the newest that was found running
    double next_line = 0;
  };

  void look_at(Watched& watched, const std::string& position);
  std::string line(const Watched& watched, const Signature& signature, double seconds) const;
  std::string missing_groups(const std::string& place) const;
  std::string missing(const Signature& signature, const std::string& place) const;
  bool is_first(const std::string& place) const;

  ClusterRuntime& runtime_;
  const double timeout_;
  const int replicas_;
  std::shared_ptr<Communicator> between_workers_;  // null: the replicas' communicators are used
  std::vector<Watched> all_;                       // the replicas first
};

}  // namespace distribute::collective
