#pragma once
/// Makes strategy and optimizer from the flags.

#include "options.hpp"

#include <distribute/distribute.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace examples {

/// A strategy and its name in reports.
struct ChosenStrategy {
  std::unique_ptr<distribute::ClusterResolver> cluster;  // outlives the strategy
  std::unique_ptr<distribute::Strategy> strategy;
  std::string name;
};

/// --strategy, else what flags and environment imply, else mirrored, over --replicas logical
/// devices: of the GPUs with --device=gpu, or auto where there is one. Joins the cluster, if there
/// is one.
/// Throws  distribute::Error for strategies and devices that this build lacks, and for a cluster
///         that cannot be read or joined.
ChosenStrategy make_strategy(const TrainerOptions& options);

/// What --gce_instance_group, the classic flags or the environment say.
/// Throws  as default_resolver and GCEClusterResolver.
std::unique_ptr<distribute::ClusterResolver> cluster_of(const TrainerOptions& options);

/// Whether flags and environment make this task an evaluator, which stands outside of the cluster.
bool is_evaluator(const TrainerOptions& options);

/// The flags that must be equal on all tasks of a job.
distribute::AgreedOptions agreed_options(const TrainerOptions& options);

/// --optimizer with its hyper-parameters, schedule, clipping and decay over `total_steps`.
std::unique_ptr<distribute::optim::Optimizer> make_optimizer(const TrainerOptions& options,
                                                             int64_t total_steps);

}  // namespace examples
