#pragma once
/// Workers of a MultiWorkerMirroredStrategy as threads of the test.

#include "catch.hpp"
#include "logical_devices.hpp"

#include <distribute/base/parallel.hpp>
#include <distribute/collective/detail/tcp_transport.hpp>
#include <distribute/device/device_spec.hpp>
#include <distribute/strategy/detail/multi_worker_extended.hpp>
#include <distribute/strategy/strategy.hpp>

#include <sys/socket.h>

/// Transports of a group whose ranks are connected by pairs of sockets.
inline std::vector<std::unique_ptr<distribute::collective::Transport>> make_tcp_transports(
    int ranks) {
  using namespace distribute;
  std::vector<collective::TcpMesh> meshes(static_cast<size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    meshes[size_t(r)].rank = r;
    meshes[size_t(r)].flows.resize(size_t(ranks));
  }
  for (int a = 0; a < ranks; ++a)
    for (int b = 0; b < a; ++b) {
      int ends[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw InternalError("socketpair");
      meshes[size_t(a)].flows[size_t(b)].emplace_back(ends[0], str_cat("rank ", b));
      meshes[size_t(b)].flows[size_t(a)].emplace_back(ends[1], str_cat("rank ", a));
    }
  std::vector<std::unique_ptr<collective::Transport>> result;
  for (auto& mesh : meshes)
    result.push_back(std::make_unique<collective::TcpTransport>(std::move(mesh)));
  return result;
}

/// As make_thread_workers, without shared memory.
inline std::vector<distribute::collective::WorkerGroup> make_tcp_workers(
    int workers, int replicas, const distribute::collective::CommunicatorOptions& options) {
  using namespace distribute;
  auto groups = collective::make_thread_workers(workers, replicas, options);
  auto transports = make_tcp_transports(workers * replicas);
  for (int r = 0; r < workers * replicas; ++r)
    groups[size_t(r / replicas)].replicas[size_t(r % replicas)] =
        std::make_shared<collective::Communicator>(std::move(transports[size_t(r)]), options);
  if (replicas == 1)
    for (auto& group : groups) group.workers = group.replicas[0];
  return groups;
}

struct ThreadWorkers {
  bool tcp = false;  // sockets, not shared memory
  distribute::CommunicationOptions options = {};
  double timeout_seconds = 60;
  std::vector<std::string> devices =
      {};                          // of all replicas in their order; none: each worker's CPUs
  std::vector<int> task_ids = {};  // none: 0, 1, 2 ...; those of an elastic job may have gaps
  bool shard_optimizer_state = false;
  /// Makes the groups; none: as `tcp` says.
  std::function<std::vector<distribute::collective::WorkerGroup>(
      int workers, int replicas, const distribute::collective::CommunicatorOptions& options)>
      groups = {};
};

/// Runs `body(strategy, worker)` for every worker; the messages of their errors, "" for none.
inline std::vector<std::string> run_workers(
    int workers, int replicas, const std::function<void(distribute::Strategy&, int worker)>& body,
    const ThreadWorkers& kind = {}) {
  using namespace distribute;
  const collective::CommunicatorOptions options{.timeout_seconds = kind.timeout_seconds};
  auto groups = kind.groups ? kind.groups(workers, replicas, options)
                : kind.tcp  ? make_tcp_workers(workers, replicas, options)
                            : collective::make_thread_workers(workers, replicas, options);
  const LogicalDevices logical(replicas);
  std::vector<std::string> errors(static_cast<size_t>(workers));
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; ++w)
    threads.emplace_back([&, w] {
      try {
        std::vector<std::string> devices;
        for (int i = 0; i < replicas; ++i)
          devices.push_back(kind.devices.empty() ? "/cpu:" + std::to_string(i)
                                                 : kind.devices[size_t(w * replicas + i)]);
        set_intra_op_threads(1);
        Strategy strategy(std::make_unique<strategy_internal::MultiWorkerExtended>(
            devices, std::move(groups[size_t(w)]),
            strategy_internal::WorkerTask{
                .type = "worker",
                .index = kind.task_ids.empty() ? w : kind.task_ids[size_t(w)],
                .is_chief = w == 0},
            kind.options, nullptr, kind.shard_optimizer_state));
        body(strategy, w);
      } catch (const std::exception& error) {
        errors[size_t(w)] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

inline void run_clean(int workers, int replicas,
                      const std::function<void(distribute::Strategy&, int)>& body,
                      const ThreadWorkers& kind = {}) {
  for (const std::string& error : run_workers(workers, replicas, body, kind)) CHECK(error == "");
}

/// For the threads of workers, where a test framework's checks may not be used.
inline void require(bool right, const char* what) {
  if (!right) throw distribute::InternalError(distribute::str_cat("wrong: ", what));
}
