#pragma once
#if DISTRIBUTE_HAS_CUDA
#include <distribute/base/logging.hpp>
#include <distribute/collective/detail/nccl_transport.hpp>
#include <distribute/collective/detail/thread_watch.hpp>
#include <distribute/strategy/detail/all_workers.hpp>
#include <distribute/strategy/detail/nccl_replicas.hpp>
#include <distribute/strategy/detail/worker_reducer.hpp>
#include <distribute/strategy/detail/worker_replica_context.hpp>

#include <atomic>
#include <utility>

namespace distribute::strategy_internal {

/// Makes the devices' replicas the only worker, with a group of NCCL.
DISTRIBUTE_INLINE WorkerState meet_over_nccl(const std::vector<Device>& devices) {
  const collective::CommunicatorOptions options;
  auto group = std::move(collective::make_thread_workers(1, int(devices.size()), options)[0]);
  const auto deadline = net::Deadline::after_seconds(options.timeout_seconds);
  for (auto& transport : collective::make_nccl_transports(devices, deadline))
    group.gpus.push_back(std::make_shared<collective::Communicator>(std::move(transport)));
  group.thread_watch = collective::watch_threads(group.gpus);
  return WorkerState(std::move(group), CommunicationOptions(), true, false);
}

class NcclWorker final : public NcclReplicas {
 public:
  explicit NcclWorker(std::vector<Device> devices)
      : devices_(std::move(devices)), state_(meet_over_nccl(devices_)) {}

  std::unique_ptr<LocalReplicaContext> make_context(Strategy& strategy, ReplicaGroup& group,
                                                    int replica) override {
    return make_worker_context(strategy, group, replica, state_);
  }

  std::unique_ptr<replica_internal::GradientReducer> make_reducer(
      LocalReplicaContext& context) override {
    return make_worker_reducer(context, state_);
  }

  void begin_run(const std::function<void()>& forget_contexts) override {
    if (!has_failed_) return;
    WorkerState fresh = meet_over_nccl(devices_);
    forget_contexts();  // sums under way use what goes now
    state_ = std::move(fresh);
    has_failed_ = false;
  }

  void replica_failed(const std::exception_ptr& error) override {
    const auto [code, message] = describe_failure(error);
    state_.group.abort(code, message);
    has_failed_ = true;
  }

 private:
  const std::vector<Device> devices_;
  WorkerState state_;
  std::atomic<bool> has_failed_ = false;  // the group is of no use any more
};

DISTRIBUTE_INLINE std::unique_ptr<NcclReplicas> NcclReplicas::meet(std::vector<Device> devices) {
  try {
    return std::make_unique<NcclWorker>(std::move(devices));
  } catch (const Error& error) {
    log_warning("strategy", str_cat("gradients are added by copies: ", error.what()));
    return nullptr;
  }
}

}  // namespace distribute::strategy_internal
#endif
