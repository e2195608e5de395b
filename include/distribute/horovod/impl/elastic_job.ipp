#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/collectives.hpp>
#include <distribute/horovod/detail/elastic_job.hpp>
#include <distribute/horovod/detail/engine.hpp>
#include <distribute/horovod/detail/engine_scope.hpp>

#include <utility>
#include <vector>

namespace distribute::horovod_internal {

DISTRIBUTE_INLINE ElasticOptions elastic_limits(const std::optional<ElasticOptions>& given) {
  if (given) return *given;
  ElasticOptions limits = ElasticOptions::from_environment();
  Environment().read_seconds("HOROVOD_ELASTIC_TIMEOUT", limits.timeout_seconds);
  return limits;
}

DISTRIBUTE_INLINE std::string horovod_agreement() { return agreed_json({{"api", "horovod"}}); }

DISTRIBUTE_INLINE ElasticJob::ElasticJob(ClusterTasks all_tasks, const ElasticOptions& limits,
                                         const EngineOptions& options)
    : ElasticRank("horovod", std::move(all_tasks), {limits, horovod_agreement()}),
      options_(options) {}

DISTRIBUTE_INLINE void ElasticJob::connect(const std::shared_ptr<ClusterRuntime>& runtime) {
  const auto engine = std::make_shared<Engine>(runtime, options_);
  engine->set_elastic_job(shared_from_this());
  set_engine(engine);
}

DISTRIBUTE_INLINE void ElasticJob::disconnect() { last_engine()->stop(); }
DISTRIBUTE_INLINE void ElasticJob::leave() { hvd::shutdown(); }

DISTRIBUTE_INLINE bool ElasticJob::any_rank_says(bool leaves, bool joins) {
  const std::vector<int32_t> mine{leaves, joins};
  const Tensor any = hvd::allreduce(Tensor(Shape{2}, mine),
                                    {.op = hvd::Max, .name = "elastic.check_host_updates"});
  const auto words = any.data<int32_t>();
  return words[0] != 0 || words[1] != 0;
}

}  // namespace distribute::horovod_internal
