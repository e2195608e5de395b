#pragma once
/// The job that init_process_group() has joined.

#include <distribute/base/config.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/torch/detail/backend.hpp>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <memory>

namespace distribute {
class ClusterRuntime;
}

namespace distribute::torch_internal {

/// One rank's part in a job. It is left by leave() or the destructor.
class Job {
 public:
  /// Connects the ranks of `runtime`; null makes a job of one rank.
  Job(std::shared_ptr<ClusterRuntime> runtime, const CommunicationOptions& options);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  int local_rank() const;
  const char* transport() const { return workers_.workers->transport(); }
  const ::c10::intrusive_ptr<::c10d::ProcessGroup>& group() const { return group_; }
  /// Ends the operations that were called before, and leaves the job.
  /// Blocks  until all ranks have called it, at most the shutdown timeout.
  void leave();

 private:
  std::shared_ptr<ClusterRuntime> runtime_;
  collective::WorkerGroup workers_;
  ::c10::intrusive_ptr<Backend> backend_;
  ::c10::intrusive_ptr<::c10d::ProcessGroup> group_;
};

/// Returns the job of the process. Throws  FailedPreconditionError before init_process_group().
std::shared_ptr<Job> job();
/// Returns the job of the process, or null.
std::shared_ptr<Job> job_or_null();
void set_job(std::shared_ptr<Job> job);

}  // namespace distribute::torch_internal
