#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/horovod/collectives.hpp>
#include <distribute/horovod/detail/elastic_job.hpp>
#include <distribute/horovod/detail/engine.hpp>

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
    : options_(options), workers_(std::move(all_tasks), {limits, horovod_agreement()}) {}

DISTRIBUTE_INLINE std::shared_ptr<Engine> ElasticJob::next(const std::function<bool()>& given_up) {
  leaves_ = false;
  std::shared_ptr<Engine> engine;
  auto generation = workers_.next(mine_, given_up, [&](const auto& runtime) {
    engine = std::make_shared<Engine>(runtime, options_);
  });
  if (!generation) return nullptr;
  generation_ = *std::move(generation);
  return engine;
}

DISTRIBUTE_INLINE bool ElasticJob::members_change(bool told_to_leave) {
  const std::vector<int32_t> mine{told_to_leave, workers_.has_waiting_worker()};
  const Tensor any = hvd::allreduce(Tensor(Shape{2}, mine),
                                    {.op = hvd::Max, .name = "elastic.check_host_updates"});
  const auto words = any.data<int32_t>();
  leaves_ = told_to_leave;
  return words[0] != 0 || words[1] != 0;
}

DISTRIBUTE_INLINE bool ElasticJob::others_fault() const {
  return workers_.failure() && !workers_.failed_itself();
}

DISTRIBUTE_INLINE std::string ElasticJob::reason() const {
  const auto failure = workers_.failure();
  return failure ? failure->reason : "";
}

DISTRIBUTE_INLINE void ElasticJob::report_error(StatusCode code, const std::string& message) {
  workers_.report_error(code, message);
}

}  // namespace distribute::horovod_internal
