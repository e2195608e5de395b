#pragma once
#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/detail/thread_watch.hpp>
#include <distribute/collective/detail/window_transport.hpp>

#include <utility>

namespace distribute::collective {

DISTRIBUTE_INLINE void WorkerGroup::abort(StatusCode code, const std::string& message) const {
  if (workers) workers->abort(code, message);
  for (const auto& replica : replicas) replica->abort(code, message);
  for (const auto& gpu : gpus) gpu->abort(code, message);
}

DISTRIBUTE_INLINE void WorkerGroup::depart(int other_worker, const std::string& reason) const {
  const int first = other_worker * replicas_per_worker;
  for (int rank = first; rank < first + replicas_per_worker; ++rank) {
    for (const auto& replica : replicas) replica->depart(rank, reason);
    for (const auto& gpu : gpus) gpu->depart(rank, reason);
  }
  if (workers && workers != replicas[0]) workers->depart(other_worker, reason);
}

DISTRIBUTE_INLINE std::vector<WorkerGroup> make_thread_workers(int workers, int replicas_per_worker,
                                                               const CommunicatorOptions& options) {
  auto between_replicas = make_thread_transports(workers * replicas_per_worker);
  auto between_workers = make_thread_transports(workers);
  std::vector<WorkerGroup> groups(static_cast<size_t>(workers));
  for (int w = 0; w < workers; ++w) {
    WorkerGroup& group = groups[size_t(w)];
    group.worker = w;
    group.num_workers = workers;
    group.replicas_per_worker = replicas_per_worker;
    for (int i = 0; i < replicas_per_worker; ++i)
      group.replicas.push_back(std::make_shared<Communicator>(
          std::move(between_replicas[size_t(w * replicas_per_worker + i)]), options));
    group.workers = replicas_per_worker == 1 ? group.replicas[0]
                                             : std::make_shared<Communicator>(
                                                   std::move(between_workers[size_t(w)]), options);
  }
  std::vector<std::shared_ptr<Communicator>> ranks;
  for (const WorkerGroup& group : groups)
    ranks.insert(ranks.end(), group.replicas.begin(), group.replicas.end());
  if (ranks.size() > 1) groups[0].thread_watch = watch_threads(std::move(ranks));
  return groups;
}

}  // namespace distribute::collective
