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
    : options_(options), workers_(std::move(all_tasks), setup) {}

DISTRIBUTE_INLINE bool ElasticJob::next(const std::function<bool()>& given_up) {
  leaves_ = false;
  if (const auto before = job_or_null()) {
    set_job(nullptr);
    before->leave();
  }
  std::shared_ptr<Job> made;
  auto generation = workers_.next(mine_, given_up, [&](const auto& runtime) {
    made = std::make_shared<Job>(runtime, options_);
  });
  if (!generation) return false;
  generation_ = *std::move(generation);
  set_job(std::move(made));
  return true;
}

DISTRIBUTE_INLINE bool ElasticJob::members_change() {
  leaves_ = told_to_leave_ && told_to_leave_();
  const ::torch::Tensor any =
      ::torch::tensor({int64_t(leaves_), int64_t(workers_.has_waiting_worker())});
  torch::all_reduce(any, ::c10d::ReduceOp::MAX);
  return any.any().item<bool>();
}

DISTRIBUTE_INLINE std::string ElasticJob::reason() const {
  const auto failure = workers_.failure();
  return failure ? failure->reason : "";
}

}  // namespace distribute::torch_internal
