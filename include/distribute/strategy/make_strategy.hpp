#pragma once
/// Makes the strategy that fits the environment: for one process, for workers, or with servers.

#include <distribute/base/config.hpp>
#include <distribute/strategy/devices.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/strategy/multi_worker_mirrored_strategy.hpp>
#include <distribute/strategy/parameter_server_strategy.hpp>
#include <distribute/strategy/strategy.hpp>

#include <memory>

namespace distribute {

/// Holds options for each strategy; only the options of the chosen strategy are used.
struct StrategyOptions {
  /// Number of replicas of this process for any strategy; 0: as in the strategy's own options.
  int num_replicas = 0;
  MirroredOptions mirrored = {};
  MultiWorkerOptions multi_worker = {};
  ParameterServerOptions parameter_server = {};
};

namespace strategy_internal {

enum class ImpliedStrategy { Mirrored, MultiWorkerMirrored, ParameterServer };

ImpliedStrategy implied_strategy(const ClusterResolver& resolver, const StrategyOptions& options);
/// Returns the resolver that the environment implies, for instance by TF_CONFIG.
std::shared_ptr<ClusterResolver> environment_resolver();
/// Copies num_replicas into the options of each strategy.
StrategyOptions with_num_replicas(StrategyOptions options);

template <typename Kind>
std::unique_ptr<Strategy> make_implied(std::shared_ptr<ClusterResolver> resolver,
                                       const StrategyOptions& given) {
  const StrategyOptions options = with_num_replicas(given);
  const ImpliedStrategy implied = implied_strategy(*resolver, options);
  if (implied == ImpliedStrategy::Mirrored)
    return std::make_unique<MirroredStrategy<Kind>>(options.mirrored);
  if (implied == ImpliedStrategy::ParameterServer)
    return std::make_unique<ParameterServerStrategy<Kind>>(std::move(resolver),
                                                           options.parameter_server);
  return std::make_unique<MultiWorkerMirroredStrategy<Kind>>(std::move(resolver),
                                                             options.multi_worker);
}

}  // namespace strategy_internal

/// Makes a MirroredStrategy without a cluster or with an empty one, a ParameterServerStrategy for a
/// cluster with parameter servers, else a MultiWorkerMirroredStrategy, also for elastic options. An
/// evaluator gets a strategy of its job's kind that runs alone.
///
///   std::unique_ptr<dist::Strategy> strategy = dist::make_strategy();
///
/// Blocks  as the constructor of the strategy.
/// Throws  InvalidArgumentError for num_replicas if the options of a strategy have another number,
///          or names of devices, and for elastic options of a cluster with parameter servers; what
///          default_resolver() and the constructor throw.
template <typename Kind = DefaultDevice>
std::unique_ptr<Strategy> make_strategy(const StrategyOptions& options = {}) {
  return strategy_internal::make_implied<Kind>(strategy_internal::environment_resolver(), options);
}
/// Makes it with your own resolver, which must outlive the strategy.
template <typename Kind = DefaultDevice>
std::unique_ptr<Strategy> make_strategy(ClusterResolver& resolver,
                                        const StrategyOptions& options = {}) {
  return strategy_internal::make_implied<Kind>(
      std::shared_ptr<ClusterResolver>(std::shared_ptr<void>(), &resolver), options);
}

}  // namespace distribute
