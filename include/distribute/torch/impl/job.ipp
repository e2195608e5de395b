#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/timeline.hpp>
#include <distribute/torch/detail/job.hpp>

#include <ATen/Parallel.h>

#include <algorithm>
#include <utility>

namespace distribute::torch_internal {

struct CurrentJob {
  std::shared_ptr<Job> job;
};

DISTRIBUTE_INLINE collective::WorkerGroup connect(const std::shared_ptr<ClusterRuntime>& runtime,
                                                  const CommunicationOptions& options) {
  if (!runtime) return std::move(collective::make_thread_workers(1)[0]);
  collective::share_cores(*runtime);
  ::at::set_num_threads(intra_op_threads());
  return collective::connect_workers(runtime, 1, options);
}

DISTRIBUTE_INLINE Job::Job(std::shared_ptr<ClusterRuntime> runtime,
                           const CommunicationOptions& options)
    : runtime_(std::move(runtime)),
      workers_(connect(runtime_, options)),
      backend_(::c10::make_intrusive<Backend>(workers_.workers)),
      group_(::c10::make_intrusive<::c10d::ProcessGroup>(workers_.worker, workers_.num_workers)) {
  const auto kind = ::c10d::ProcessGroup::BackendType::CUSTOM;
  group_->setBackend(::c10::DeviceType::CPU, kind, backend_);
  group_->setDefaultBackend(kind);
  group_->setGroupName("distribute");
}

DISTRIBUTE_INLINE Job::~Job() {
  try {
    leave();
  } catch (const std::exception& error) {
    log_warning("torch", str_cat("destroy_process_group: ", error.what()));
  }
}

DISTRIBUTE_INLINE int Job::local_rank() const {
  if (!runtime_) return 0;
  const auto& hosts = runtime_->hosts();
  const auto mine = hosts.begin() + runtime_->rank();
  return int(std::count(hosts.begin(), mine, *mine));
}

DISTRIBUTE_INLINE void Job::leave() {
  backend_->stop();
  if (workers_.leave) std::exchange(workers_.leave, nullptr)();
  runtime_.reset();
}

DISTRIBUTE_INLINE std::shared_ptr<Job> job_or_null() { return in_process<CurrentJob>().job; }

DISTRIBUTE_INLINE std::shared_ptr<Job> job() {
  auto found = job_or_null();
  if (!found)
    throw FailedPreconditionError(
        "torch: call init_process_group() first, or again after destroy_process_group()");
  return found;
}

DISTRIBUTE_INLINE void set_job(std::shared_ptr<Job> job) {
  in_process<CurrentJob>().job = std::move(job);
}

}  // namespace distribute::torch_internal
