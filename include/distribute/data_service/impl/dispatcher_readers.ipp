#pragma once
#include <distribute/data_service/detail/dispatcher.hpp>

#include <algorithm>

namespace distribute::data::service_internal {

DISTRIBUTE_INLINE const char* policy_name(ShardingPolicy mode) {
  static constexpr const char* kNames[] = {"Off", "Dynamic", "File", "Data", "FileOrData", "Hint"};
  return kNames[size_t(mode)];
}

DISTRIBUTE_INLINE DatasetFacts Dispatcher::describe(const rpc::Call& call,
                                                    const DescribeRequest& request) {
  std::unique_lock lock(mutex_);
  const auto until = net::Deadline::after_seconds(request.wait_seconds);
  while (!state_.datasets.contains(request.dataset)) {
    if (until.passed() || stopping_ || call.cancelled()) {
      std::string names;
      for (const auto& [name, facts] : state_.datasets) names += (names.empty() ? "" : ", ") + name;
      throw NotFoundError(str_cat("no worker has registered the dataset \"", request.dataset,
                                  "\"; registered: ", names.empty() ? "none" : names));
    }
    changed_.wait_for(lock, kLook);
  }
  return state_.datasets[request.dataset];
}

DISTRIBUTE_INLINE uint64_t Dispatcher::make_iteration(const OpenRequest& request,
                                                      const SaveTarget& save) {
  const auto facts = state_.datasets.find(request.dataset);
  if (facts == state_.datasets.end())
    throw NotFoundError(str_cat("no worker has registered the dataset \"", request.dataset, "\""));
  if (request.mode == ShardingPolicy::Dynamic && !facts->second.not_dynamic.empty())
    throw FailedPreconditionError(str_cat("ShardingPolicy::Dynamic of \"", request.dataset,
                                          "\": ", facts->second.not_dynamic, "; use Off or Data"));
  const bool fixed = is_static_policy(request.mode);
  if (fixed && config_.worker_addresses.empty())
    throw FailedPreconditionError(str_cat("ShardingPolicy::", policy_name(request.mode),
                                          " needs DispatcherConfig::worker_addresses"));
  if (request.num_consumers && facts->second.cardinality != kInfiniteCardinality)
    throw FailedPreconditionError(str_cat("num_consumers needs a dataset without an end, but \"",
                                          request.dataset, "\" has ",
                                          facts->second.cardinality == kUnknownCardinality
                                              ? "an unknown number of"
                                              : std::to_string(facts->second.cardinality),
                                          " elements; call repeat() at its end"));
  if (request.cached && facts->second.cardinality != kInfiniteCardinality)
    throw InvalidArgumentError(str_cat("cross_trainer_cache needs a dataset without an end, and \"",
                                       request.dataset, "\" is none; call repeat() at its end"));
  const uint64_t id = state_.last_iteration + 1;
  commit({.kind = EntryKind::Iteration,
          .iteration = id,
          .number = request.pass,
          .mode = request.mode,
          .num_consumers = request.num_consumers,
          .cached = request.cached,
          .name = request.job,
          .dataset = request.dataset,
          .save = save});
  for (size_t i = 0; fixed && i < config_.worker_addresses.size(); ++i) add_task(id);
  if (!fixed)
    for (const auto& [number, peer] : present_) {
      if (!peer) continue;
      add_task(id);
      put(id, int64_t(state_.iterations.at(id).tasks.size()) - 1, number);
    }
  place_tasks();
  return id;
}

DISTRIBUTE_INLINE OpenAnswer Dispatcher::open(const rpc::Call& call, const OpenRequest& request) {
  const std::lock_guard lock(mutex_);
  uint64_t found = 0;
  for (const auto& [id, iteration] : state_.iterations) {
    if (iteration.job != request.job) continue;
    if (iteration.mode != request.mode || iteration.dataset != request.dataset)
      throw InvalidArgumentError(
          str_cat("the job \"", request.job, "\" has ShardingPolicy::", policy_name(iteration.mode),
                  " of \"", iteration.dataset, "\", not ", policy_name(request.mode), " of \"",
                  request.dataset, "\""));
    if (iteration.num_consumers != request.num_consumers)
      throw InvalidArgumentError(str_cat("the job \"", request.job, "\" has num_consumers = ",
                                         iteration.num_consumers, ", not ", request.num_consumers));
    if (iteration.cached != request.cached)
      throw InvalidArgumentError(str_cat("the job \"", request.job, "\" has ",
                                         iteration.cached ? "a" : "no", " cross_trainer_cache; ",
                                         "set it in all of its readers, or in none"));
    for (const auto& [number, reader] : readers_[id].by_number)
      if (reader.local != request.local)
        throw InvalidArgumentError(str_cat(
            "the job \"", request.job, "\" has target_workers = ", reader.local ? "Local" : "Any",
            ", not ", request.local ? "Local" : "Any"));
    if (iteration.pass == request.pass) found = id;
  }
  if (!found) found = make_iteration(request);
  if (is_over(found)) return {found, true};
  auto& readers = readers_[found].by_number;
  for (const auto& [number, reader] : readers)
    if (request.num_consumers && reader.index == request.consumer_index &&
        number != request.consumer && !reader.peer->lost())
      throw AlreadyExistsError(str_cat("the job \"", request.job, "\" has a reader with ",
                                       "consumer_index = ", reader.index, " already"));
  readers[request.consumer].peer = call.shared_peer();
  readers[request.consumer].local = request.local;
  readers[request.consumer].index = request.num_consumers ? request.consumer_index : -1;
  ++version_;
  changed_.notify_all();
  return {found, false};
}

DISTRIBUTE_INLINE void Dispatcher::take_reports(uint64_t id,
                                                const std::vector<TaskReport>& reports) {
  for (const TaskReport& report : reports) {
    const Iteration& iteration = find(id);
    if (report.task < 0 || report.task >= int64_t(iteration.tasks.size()))
      throw InvalidArgumentError(str_cat("there is no task ", report.task));
    if (iteration.cached) continue;  // what one trainer has had, others may lack
    commit({.kind = EntryKind::Delivered,
            .iteration = id,
            .task = report.task,
            .delivered = report.received});
  }
}

DISTRIBUTE_INLINE FollowAnswer Dispatcher::follow(const rpc::Call& call,
                                                  const FollowRequest& request) {
  std::unique_lock lock(mutex_);
  find(request.iteration);
  Reader& reader = readers_[request.iteration].by_number[request.consumer];
  reader.peer = call.shared_peer();
  take_reports(request.iteration, request.reports);
  for (const TaskReport& report : request.reports) reader.reported[report.task] = report.generation;
  place_tasks();
  wait_for_change(lock, request.version, call);
  FollowAnswer answer{.version = version_};
  const Iteration& iteration = find(request.iteration);
  for (size_t i = 0; i < iteration.tasks.size(); ++i) {
    const Task& task = iteration.tasks[i];
    const bool placed = task.state == TaskState::Running;
    answer.tasks.push_back({int64_t(i), task.generation, task.state, placed ? task.worker : -1,
                            placed ? state_.workers[task.worker].address : ""});
  }
  return answer;
}

DISTRIBUTE_INLINE void Dispatcher::drop(uint64_t iteration) {
  readers_.erase(iteration);
  commit({.kind = EntryKind::End, .iteration = iteration, .state = TaskState::Gone});
}

/// A pass that a reader has seen to its end is kept, so that later readers of the job get nothing.
DISTRIBUTE_INLINE OpenAnswer Dispatcher::leave(const rpc::Call&, const LeaveRequest& request) {
  const std::lock_guard lock(mutex_);
  const auto found = state_.iterations.find(request.iteration);
  if (found == state_.iterations.end()) return {};
  take_reports(request.iteration, request.reports);
  if (request.finished && !found->second.finished)
    commit({.kind = EntryKind::End, .iteration = request.iteration});
  Readers& readers = readers_[request.iteration];
  readers.by_number.erase(request.consumer);
  readers.empty_since = Clock::now();
  place_tasks();
  const bool shared = !found->second.job.starts_with('\n');
  if (readers.by_number.empty() && !(shared && found->second.finished)) drop(request.iteration);
  return {};
}

}  // namespace distribute::data::service_internal
