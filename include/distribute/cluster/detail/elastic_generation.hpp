#pragma once
/// What the workers of an elastic job agree on when they meet.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_tasks.hpp>
#include <distribute/net/message.hpp>

#include <compare>
#include <cstdint>
#include <vector>

namespace distribute {

/// Times are in seconds.
struct ElasticLimits {
  int min_workers = 1;
  int max_workers = 1;
  /// How long a meeting waits for min_workers.
  double timeout = 600;
  /// How long to wait for further workers when min_workers have come, from the last arrival on.
  /// Members of the generation before whose port is closed are not waited for.
  double last_call = 5;
};

/// What a worker brings to a meeting.
struct ElasticState {
  int64_t generation = 0;  // whose state it holds; 0: none
  int64_t step = 0;        // updates in that state

  friend auto operator<=>(const ElasticState&, const ElasticState&) = default;
  /// How it travels.
  void fields(net::FieldVisitor& visit) { visit("generation", generation)("step", step); }
};

/// The members from one change to the next; the same on all of them but for tasks.rank.
struct ElasticGeneration {
  int64_t number = 0;
  ClusterTasks tasks;         // in the order of the job's list
  ElasticState state;         // what all go on from
  std::vector<bool> current;  // by rank: holds that state already
  int source = 0;             // the first rank that does
};

}  // namespace distribute
