#include "choose_way.hpp"

#include "between_graph.hpp"
#include "coordinated.hpp"
#include "elastic_horovod.hpp"
#include "elastic_workers.hpp"
#include "one_process.hpp"

namespace dist = distribute;

namespace examples {

namespace {

/// Where there is a chief beside the workers, or as asked.
bool is_coordinated(const TrainerOptions& o, const dist::ParameterServerJob& job) {
  const bool has_chief = job.cluster().has_job("chief");
  if (o.coordinator == "true" && !has_chief)
    throw dist::UsageError(
        "--coordinator=true: the cluster has no chief that could give out the steps");
  if (o.coordinator == "true" && o.sync_replicas > 0)
    throw dist::UsageError(
        "--coordinator=true: workers of --sync_replicas step by themselves; leave one of them out");
  return has_chief && o.coordinator != "false" && o.sync_replicas == 0;
}

}  // namespace

std::unique_ptr<Way> choose_way(Training& training) {
  const TrainerOptions& o = training.options;
  if (o.api == "horovod" && o.elastic) return std::make_unique<ElasticHorovod>(training);
  if (o.api == "horovod") return std::make_unique<Horovod>(training);
  if (const auto job = dist::ParameterServerJob::of(training.strategy)) {
    if (is_coordinated(o, *job)) return std::make_unique<Coordinated>(training, *job);
    return std::make_unique<BetweenGraph>(training, *job);
  }
  if (o.coordinator == "true")
    throw dist::UsageError("--coordinator=true: this process has no cluster with a chief");
  if (o.elastic) return std::make_unique<ElasticWorkers>(training);
  return std::make_unique<OneProcess>(training);
}

}  // namespace examples
