#pragma once
/// Logs collectives that take long.

#include <distribute/base/config.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/collective/connect_workers.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace distribute::collective {

/// Checks a worker's collectives at each of its heartbeats. look() is for one thread.
class LateWatch {
 public:
  /// `timeout` is that of the collectives. `runtime` is borrowed.
  LateWatch(ClusterRuntime& runtime, const WorkerGroup& group, double timeout);

  /// Adds a group of some of the workers, which is watched while it lives. Thread-safe.
  void add(const std::string& name, const std::shared_ptr<Communicator>& group,
           std::vector<int> members);

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
    std::string place_prefix = {};          // "hvd/1: "; empty for groups of all workers
    std::vector<int> members = {};          // of a group of some
    std::weak_ptr<Communicator> life = {};  // of a group of some, whose `group` is set in look()
  };

  void look_at(Watched& watched, const std::string& position);
  std::string look_at_sets(std::string position);
  std::string line(const Watched& watched, const Signature& signature, double seconds) const;
  std::string missing_groups(const std::string& place) const;
  std::string missing(const Watched& watched, const Signature& signature) const;
  bool is_first(const std::string& place) const;

  ClusterRuntime& runtime_;
  const double timeout_;
  const int replicas_;
  std::shared_ptr<Communicator> between_workers_;  // null: the replicas' communicators are used
  std::vector<Watched> all_;                       // the replicas first
  std::mutex mutex_;                               // guards sets_
  std::vector<Watched> sets_;                      // groups of some workers
};

}  // namespace distribute::collective
