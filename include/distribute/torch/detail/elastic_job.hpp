#pragma once
/// This rank's part in a job whose ranks may change; it makes one Job after the other.

#include <distribute/base/config.hpp>
#include <distribute/collective/elastic_workers.hpp>
#include <distribute/torch/detail/job.hpp>

#include <functional>
#include <memory>
#include <string>

namespace distribute::torch_internal {

/// Holds the task's port from init_process_group() to destroy_process_group(). One thread.
class ElasticJob {
 public:
  ElasticJob(ClusterTasks all_tasks, const ElasticSetup& setup,
             const CommunicationOptions& options);

  /// Leaves the present job, and makes the next one the job of the process. Returns false when the
  /// job has finished without this rank, or when `given_up` returns true.
  /// Blocks and throws  as ElasticMember::meet.
  bool next(const std::function<bool()>& given_up);

  /// The rank whose state all ranks continue from.
  int source() const { return generation_.source; }
  /// Notes that all ranks have the source's state, and that they keep a copy of their state.
  void state_is_shared() { mine_ = {generation_.number, generation_.state.step}; }
  void count_commit() { ++mine_.step; }
  /// Asks all ranks whether one wants to join or must leave.
  bool members_change();
  bool leaves() const { return leaves_; }
  void set_told_to_leave(std::function<bool()> told) { told_to_leave_ = std::move(told); }

  /// Whether the job has failed because another rank ended; reason() says why.
  bool others_fault() const { return workers_.failure() && !workers_.failed_itself(); }
  std::string reason() const;
  ElasticWorkers& workers() { return workers_; }

 private:
  const CommunicationOptions options_;
  ElasticWorkers workers_;
  ElasticGeneration generation_;
  ElasticState mine_;  // of the last commit
  bool leaves_ = false;
  std::function<bool()> told_to_leave_;
};

/// Returns the elastic job of the process, or null.
std::shared_ptr<ElasticJob> elastic_job();
void set_elastic_job(std::shared_ptr<ElasticJob> job);

}  // namespace distribute::torch_internal
