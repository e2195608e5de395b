#pragma once
#include <distribute/data_service/detail/dispatcher.hpp>
#include <distribute/data_service/detail/pipelines.hpp>
#include <distribute/data_service/detail/service_metrics.hpp>

#include <algorithm>

namespace distribute::data::service_internal {

DISTRIBUTE_INLINE JoinAnswer Dispatcher::join(const rpc::Call& call, const JoinRequest& request) {
  const std::lock_guard lock(mutex_);
  for (const DatasetFacts& facts : request.datasets) {
    const auto known = state_.datasets.find(facts.id);
    if (known != state_.datasets.end())
      check_same_dataset(known->second, "the dispatcher (from the first worker)", facts,
                         "the worker at " + request.address);
  }
  for (const DatasetFacts& facts : request.datasets)
    if (!state_.datasets.contains(facts.id)) commit({.kind = EntryKind::Dataset, .facts = {facts}});
  int64_t number = int64_t(state_.workers.size());
  for (const auto& [at, worker] : state_.workers)
    if (worker.address == request.address) number = at;
  const bool known = state_.workers.contains(number);
  const bool same_start = known && state_.workers[number].start == request.start;
  const bool stays = same_start && present_.contains(number);
  if (!stays && present_.contains(number)) lose_worker(number);
  if (!same_start)
    commit({.kind = EntryKind::Worker,
            .number = request.start,
            .worker = number,
            .name = request.address});
  present_[number] = call.shared_peer();
  for (const auto& [id, iteration] : state_.iterations) {
    if (iteration.finished || is_static_policy(iteration.mode)) continue;
    if (iteration.num_consumers && !iteration.tasks.empty()) continue;  // readers count its tasks
    const bool has_one =
        std::any_of(iteration.tasks.begin(), iteration.tasks.end(), [number](const Task& task) {
          return task.worker == number && task.state == TaskState::Running;
        });
    if (has_one) continue;
    add_task(id);
    put(id, int64_t(iteration.tasks.size()) - 1, number);
  }
  ++version_;
  changed_.notify_all();
  place_tasks();
  return {number};
}

DISTRIBUTE_INLINE OrdersAnswer Dispatcher::orders(const rpc::Call& call,
                                                  const OrdersRequest& request) {
  std::unique_lock lock(mutex_);
  wait_for_change(lock, request.version, call);
  OrdersAnswer answer{.version = version_};
  const auto present = present_.find(request.worker);
  answer.known = present != present_.end() && present->second &&
                 state_.workers[request.worker].start == request.start;
  if (!answer.known) return answer;
  for (const auto& [id, iteration] : state_.iterations)
    for (size_t i = 0; !is_over(id) && i < iteration.tasks.size(); ++i) {
      const Task& task = iteration.tasks[i];
      if (task.state != TaskState::Running || task.worker != request.worker) continue;
      answer.orders.push_back({id, int64_t(i), task.generation, iteration.dataset, iteration.mode,
                               iteration.pass, int64_t(i), int64_t(iteration.tasks.size()),
                               iteration.num_consumers, iteration.cached, task.delivered,
                               iteration.save, task.chunks});
    }
  return answer;
}

/// Whether all readers have gone from a pass that one of them has seen to its end.
DISTRIBUTE_INLINE bool Dispatcher::is_over(uint64_t iteration) {
  const Iteration& pass = state_.iterations.at(iteration);
  if (is_save(pass)) return pass.finished;
  return pass.finished && !in_grace() && readers_[iteration].by_number.empty();
}

DISTRIBUTE_INLINE SplitAnswer Dispatcher::split(const rpc::Call&, const SplitRequest& request) {
  const std::lock_guard lock(mutex_);
  Iteration& iteration = find(request.iteration);
  Task& task = iteration.tasks.at(size_t(request.task));
  if (task.generation != request.generation || task.state != TaskState::Running)
    throw CancelledError("another worker has taken the place of this one");
  const auto& given = task.splits[request.repetition];
  if (request.number < int64_t(given.size())) return given[size_t(request.number)];
  const DatasetFacts& facts = state_.datasets.at(iteration.dataset);
  const int64_t begin = iteration.next_item[request.repetition];
  if (begin >= facts.items) return {};
  const int64_t end = begin + std::min(facts.items_per_split, facts.items - begin);
  commit({.kind = EntryKind::Split,
          .iteration = request.iteration,
          .task = request.task,
          .repetition = request.repetition,
          .begin = begin,
          .end = end});
  return {begin, end};
}

DISTRIBUTE_INLINE void Dispatcher::add_task(uint64_t iteration) {
  const auto task = int64_t(state_.iterations.at(iteration).tasks.size());
  commit({.kind = EntryKind::Task, .iteration = iteration, .task = task});
}

DISTRIBUTE_INLINE void Dispatcher::put(uint64_t iteration, int64_t task, int64_t worker) {
  commit({.kind = EntryKind::State,
          .iteration = iteration,
          .task = task,
          .number = state_.iterations.at(iteration).tasks.at(size_t(task)).generation,
          .worker = worker,
          .state = TaskState::Running});
}

/// Off has no shares that others would lack, and a cache promises no element; all else is made by
/// another worker.
DISTRIBUTE_INLINE void Dispatcher::lose_worker(int64_t worker) {
  present_.erase(worker);
  for (const auto& [id, iteration] : state_.iterations)
    for (size_t i = 0; i < iteration.tasks.size(); ++i) {
      const Task& task = iteration.tasks[i];
      if (task.worker != worker || task.state != TaskState::Running) continue;
      const bool gone = iteration.cached
                            ? !is_static_policy(iteration.mode)
                            : iteration.mode == ShardingPolicy::Off && !iteration.num_consumers;
      commit({.kind = EntryKind::State,
              .iteration = id,
              .task = int64_t(i),
              .number = task.generation + 1,
              .state = gone ? TaskState::Gone : TaskState::Collecting});
    }
  dispatcher_metrics().lost_workers.increment_by();
  config_.cluster.print(str_cat("the data service has lost data_worker ", worker, " (",
                                state_.workers[worker].address, ")"));
}

DISTRIBUTE_INLINE int64_t Dispatcher::worker_for(const Iteration& iteration, int64_t task) const {
  const auto& listed = config_.worker_addresses;
  const Task& wanted = iteration.tasks[size_t(task)];
  int64_t best = -1, fewest = INT64_MAX;
  for (const auto& [number, peer] : present_) {
    if (!peer) continue;
    const std::string& address = state_.workers.at(number).address;
    if (is_static_policy(iteration.mode) && size_t(task) < listed.size() && !wanted.generation) {
      const std::string& own = listed[size_t(task)];
      if (address != own && !address.starts_with(own + ":")) continue;
    }
    const int64_t load = std::count_if(
        iteration.tasks.begin(), iteration.tasks.end(), [&, at = number](const Task& other) {
          return other.worker == at && other.state == TaskState::Running;
        });
    if (load < fewest) best = number, fewest = load;
  }
  return best;
}

DISTRIBUTE_INLINE bool Dispatcher::all_have_reported(uint64_t iteration, int64_t task) {
  if (is_save(state_.iterations.at(iteration))) return true;  // the dispatcher knows all chunks
  if (in_grace() && readers_[iteration].by_number.empty())
    return false;  // readers are about to come back
  const uint64_t generation = state_.iterations.at(iteration).tasks[size_t(task)].generation;
  for (const auto& [number, reader] : readers_[iteration].by_number) {
    const auto found = reader.reported.find(task);
    if (found == reader.reported.end() || found->second != generation) return false;
  }
  return true;
}

DISTRIBUTE_INLINE void Dispatcher::place_tasks() {
  for (const auto& [id, iteration] : state_.iterations)
    for (int64_t i = 0; i < int64_t(iteration.tasks.size()); ++i) {
      const TaskState state = iteration.tasks[size_t(i)].state;
      if (state != TaskState::Waiting &&
          (state != TaskState::Collecting || !all_have_reported(id, i)))
        continue;
      const int64_t worker = worker_for(iteration, i);
      if (worker >= 0) put(id, i, worker);
    }
}

}  // namespace distribute::data::service_internal
