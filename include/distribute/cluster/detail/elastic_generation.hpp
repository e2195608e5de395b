#pragma once
/// Agreement of the workers of an elastic job about their next generation.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/net/message.hpp>

#include <compare>
#include <cstdint>
#include <vector>

namespace distribute {

/// Limits of a meeting. Times are in seconds.
struct ElasticLimits {
  int min_workers = 1;
  int max_workers = 1;
  /// Time that a meeting waits for min_workers.
  double timeout = 600;
  /// Time to wait for further workers when min_workers have come, from the last arrival on. Members
  /// of the generation before whose port is closed are not waited for.
  double last_call = 5;
};

/// State that a worker brings to a meeting.
struct ElasticState {
  int64_t generation = 0;  // generation whose state it holds; 0: no state
  int64_t step = 0;        // updates in that state

  friend auto operator<=>(const ElasticState&, const ElasticState&) = default;
  /// Visits the fields for messages.
  void fields(net::FieldVisitor& visit) { visit("generation", generation)("step", step); }
};

/// The members from one change to the next; the same on all of them except for tasks.rank.
struct ElasticGeneration {
  int64_t number = 0;
  ClusterTasks tasks;         // in the order of the job's list
  ElasticState state;         // state from which all continue
  std::vector<bool> current;  // by rank, whether it holds that state already
  int source = 0;             // the first rank that holds it
};

}  // namespace distribute
