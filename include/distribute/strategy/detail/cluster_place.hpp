#pragma once
/// Which of the training cluster's tasks this process is, by one reading of the environment.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_tasks.hpp>
#include <distribute/cluster/elastic_options.hpp>
#include <distribute/strategy/detail/multi_worker_extended.hpp>

namespace distribute {
class ClusterResolver;
}  // namespace distribute

namespace distribute::strategy_internal {

struct ClusterPlace {
  ClusterTasks tasks;  // of the training cluster: chief, then workers
  WorkerTask task;
  bool alone = true;  // no cluster, or an evaluator
};

/// Throws  InvalidArgumentError when the cluster does not say which task this process is.
ClusterPlace place_of(const ClusterResolver& resolver);

/// A process that is alone has no other workers to wait for.
/// Throws  InvalidArgumentError when min_workers wants some.
void check_elastic(const ElasticOptions& options, const ClusterPlace& place);

}  // namespace distribute::strategy_internal
