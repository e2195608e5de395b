#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/cluster_spec.hpp>

namespace distribute {

DISTRIBUTE_INLINE ElasticOptions ElasticOptions::from_environment() {
  ElasticOptions limits;
  const Environment variables;
  variables.read("DISTRIBUTE_MIN_WORKERS", 0, 1'000'000, limits.min_workers);
  variables.read("DISTRIBUTE_MAX_WORKERS", 0, 1'000'000, limits.max_workers);
  return limits;
}

DISTRIBUTE_INLINE void check_elastic(const ElasticOptions& options, const ClusterPlace& place) {
  if (!place.alone || place.task_type == TaskType::Evaluator || options.min_workers < 2) return;
  throw InvalidArgumentError(
      str_cat("an elastic job needs at least ", options.min_workers,
              " workers (min_workers), but the environment names no other task: start with "
              "distribute run -np N --min-np ",
              options.min_workers, ", or set TF_CONFIG"));
}

}  // namespace distribute
