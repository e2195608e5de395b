#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/strategy/make_strategy.hpp>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE ImpliedStrategy implied_strategy(const ClusterResolver& resolver,
                                                   const StrategyOptions& options) {
  const ClusterSpec cluster = resolver.cluster_spec();
  const bool elastic = options.multi_worker.elastic.min_workers > 0;
  if (cluster.has_job("ps")) {
    if (elastic)
      throw InvalidArgumentError(
          "make_strategy: multi_worker.elastic is set, but the cluster has parameter servers, "
          "whose workers may come and go anyhow; leave it out");
    return ImpliedStrategy::ParameterServer;
  }
  return cluster.jobs().empty() && !elastic ? ImpliedStrategy::Mirrored
                                            : ImpliedStrategy::MultiWorkerMirrored;
}

DISTRIBUTE_INLINE std::shared_ptr<ClusterResolver> environment_resolver() {
  return default_resolver().resolver;
}

DISTRIBUTE_INLINE void take_num_replicas(int& own, const char* name, int number) {
  if (own != 0 && own != number)
    throw InvalidArgumentError(str_cat("make_strategy: num_replicas is ", number, ", but ", name,
                                       ".num_replicas is ", own, "; set one of them"));
  own = number;
}

DISTRIBUTE_INLINE StrategyOptions with_num_replicas(StrategyOptions options) {
  const int number = options.num_replicas;
  if (number == 0) return options;
  if (!options.mirrored.devices.empty())
    throw InvalidArgumentError("make_strategy: give num_replicas or mirrored.devices, not both");
  take_num_replicas(options.mirrored.num_replicas, "mirrored", number);
  take_num_replicas(options.multi_worker.num_replicas, "multi_worker", number);
  take_num_replicas(options.parameter_server.num_replicas, "parameter_server", number);
  return options;
}

}  // namespace distribute::strategy_internal
