#pragma once
/// This rank's part in a job whose ranks may change; it makes one Job after the other.

#include <distribute/base/config.hpp>
#include <distribute/collective/elastic_workers.hpp>
#include <distribute/torch/detail/job.hpp>

#include <memory>

namespace distribute::torch_internal {

/// Holds the task's port from init_process_group() to destroy_process_group(), and makes each Job
/// that of the process.
class ElasticJob final : public ElasticRank {
 public:
  ElasticJob(ClusterTasks all_tasks, const ElasticSetup& setup,
             const CommunicationOptions& options);

 private:
  void connect(const std::shared_ptr<ClusterRuntime>& runtime) override;
  void disconnect() override;
  void leave() override;
  bool any_rank_says(bool leaves, bool joins) override;

  const CommunicationOptions options_;
};

/// Returns the elastic job of the process, or null.
std::shared_ptr<ElasticJob> elastic_job();
void set_elastic_job(std::shared_ptr<ElasticJob> job);

}  // namespace distribute::torch_internal
