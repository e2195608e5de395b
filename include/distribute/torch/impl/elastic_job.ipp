#pragma once
#include <distribute/base/process_state.hpp>
#include <distribute/torch/detail/elastic_job.hpp>
#include <distribute/torch/process_group.hpp>

#include <utility>

namespace distribute::torch_internal {

struct CurrentElasticJob {
  std::shared_ptr<ElasticJob> job;
};

DISTRIBUTE_INLINE std::shared_ptr<ElasticJob> elastic_job() {
  return in_process<CurrentElasticJob>().job;
}
DISTRIBUTE_INLINE void set_elastic_job(std::shared_ptr<ElasticJob> job) {
  in_process<CurrentElasticJob>().job = std::move(job);
}

DISTRIBUTE_INLINE ElasticJob::ElasticJob(ClusterTasks all_tasks, const ElasticSetup& setup,
                                         const CommunicationOptions& options)
    : ElasticRank("torch", std::move(all_tasks), setup), options_(options) {}

DISTRIBUTE_INLINE void ElasticJob::connect(const std::shared_ptr<ClusterRuntime>& runtime) {
  set_job(std::make_shared<Job>(runtime, options_));
}

DISTRIBUTE_INLINE void ElasticJob::disconnect() {
  const auto before = job_or_null();
  if (!before) return;
  set_job(nullptr);
  before->leave();
}

DISTRIBUTE_INLINE void ElasticJob::leave() { torch::destroy_process_group(); }

DISTRIBUTE_INLINE bool ElasticJob::any_rank_says(bool leaves, bool joins) {
  const ::torch::Tensor any = ::torch::tensor({int64_t(leaves), int64_t(joins)});
  torch::all_reduce(any, ::c10d::ReduceOp::MAX);
  return any.any().item<bool>();
}

}  // namespace distribute::torch_internal
