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
    throw dist::InvalidArgumentError(
        "--coordinator=true: the cluster has no chief that could give out the steps");
  return has_chief && o.coordinator != "false" && o.sync_replicas == 0;
}

}  // namespace

std::unique_ptr<Way> choose_way(Training& t) {
  const TrainerOptions& o = t.options;
  if (o.api == "horovod" && o.elastic) return std::make_unique<ElasticHorovod>(t);
  if (o.api == "horovod") return std::make_unique<Horovod>(t);
  if (const auto job = dist::ParameterServerJob::of(t.strategy)) {
    if (is_coordinated(o, *job)) return std::make_unique<Coordinated>(t, *job);
    return std::make_unique<BetweenGraph>(t, *job);
  }
  if (o.elastic) return std::make_unique<ElasticWorkers>(t);
  if (t.strategy.cluster_resolver()) return std::make_unique<MultiWorker>(t);
  return std::make_unique<OneProcess>(t);
}

}  // namespace examples
