#pragma once
#include <distribute/data/chunked_snapshot.hpp>
#include <distribute/data_service/detail/dispatcher.hpp>
#include <distribute/data_service/detail/pipelines.hpp>

#include <algorithm>

namespace distribute::data::service_internal {

/// Throws  what distributed_save() says.
DISTRIBUTE_INLINE void Dispatcher::check_can_save(const SaveRequest& request) {
  const std::string& path = request.target.path;
  if (!journal_)
    throw InvalidArgumentError(
        "distributed_save needs a dispatcher that is fault tolerant: fault_tolerant_mode and "
        "work_dir, or distribute data serve --work_dir=DIR");
  for (const auto& [id, iteration] : state_.iterations)
    if (iteration.save.path == path)
      throw AlreadyExistsError(str_cat("the snapshot at ", path, " is already started"));
  if (ChunkedSnapshot(path).exists())
    throw AlreadyExistsError(str_cat("the snapshot at ", path,
                                     " is already started or completed: the path exists; remove "
                                     "it, or give another one"));
  const auto facts = state_.datasets.find(request.dataset);
  if (facts == state_.datasets.end()) return;  // make_iteration() says so
  require_end(facts->second.cardinality, "distributed_save", "it `.take(count)`");
  if (!facts->second.not_dynamic.empty())
    throw FailedPreconditionError(
        str_cat("distributed_save of \"", request.dataset,
                "\": workers cannot share it: ", facts->second.not_dynamic));
}

/// Makes the directory and the files that readers need first.
DISTRIBUTE_INLINE void Dispatcher::write_head(const Iteration& save) {
  ChunkedSnapshot(save.save.path)
      .create(spec_of_facts(state_.datasets.at(save.dataset)),
              save.save.gzip ? io::Compression::Gzip : io::Compression::None);
}

DISTRIBUTE_INLINE SaveAnswer Dispatcher::save(const rpc::Call&, const SaveRequest& request) {
  const std::lock_guard lock(mutex_);
  const std::string job = str_cat("\nsave ", request.number);
  for (const auto& [id, iteration] : state_.iterations)
    if (iteration.job == job) return {id};
  check_can_save(request);
  const uint64_t id = make_iteration(
      {.job = job, .dataset = request.dataset, .mode = ShardingPolicy::Dynamic}, request.target);
  try {
    write_head(state_.iterations.at(id));
  } catch (const Error&) {
    drop(id);
    throw;
  }
  return {id};
}

/// Takes in the chunks that were made visible before a restart, of which the journal may lack the
/// last one.
DISTRIBUTE_INLINE void Dispatcher::adopt_chunks(uint64_t id) {
  write_head(state_.iterations.at(id));
  std::map<int64_t, std::pair<int64_t, int64_t>> found;  // chunks and elements by task
  for (const auto& chunk : ChunkedSnapshot(state_.iterations.at(id).save.path).chunks()) {
    ++found[chunk.stream].first;
    found[chunk.stream].second += chunk.elements;
  }
  for (size_t i = 0; i < state_.iterations.at(id).tasks.size(); ++i) {
    const Task& task = state_.iterations.at(id).tasks[i];
    const auto [chunks, elements] = found[int64_t(i)];
    if (chunks < task.chunks)
      return fail_save(id, StatusCode::DataLoss,
                       str_cat("chunks of stream ", i, " have vanished: there are ", chunks,
                               " where ", task.chunks, " were written"));
    if (chunks > task.chunks)
      commit({.kind = EntryKind::Chunk,
              .iteration = id,
              .task = int64_t(i),
              .number = uint64_t(chunks),
              .begin = task.delivered.count(),
              .end = elements});
  }
}

/// Makes a chunk visible, and notes it.
DISTRIBUTE_INLINE void Dispatcher::publish(uint64_t id, const ChunkReport& report) {
  const SaveTarget& target = state_.iterations.at(id).save;
  const Task& task = state_.iterations.at(id).tasks[size_t(report.task)];
  try {
    ChunkedSnapshot(target.path)
        .publish({report.chunk, report.task, report.elements}, report.generation);
  } catch (const Error& error) {
    throw FailedPreconditionError(
        str_cat("the dispatcher cannot take the chunk, which needs a file system that it shares "
                "with its workers: ",
                error.what()));
  }
  const int64_t before = task.delivered.count();
  commit({.kind = EntryKind::Chunk,
          .iteration = id,
          .task = report.task,
          .number = uint64_t(report.chunk) + 1,
          .begin = before,
          .end = before + report.elements});
}

DISTRIBUTE_INLINE ChunkAnswer Dispatcher::chunk(const rpc::Call&, const ChunkReport& report) {
  const std::lock_guard lock(mutex_);
  const Iteration& iteration = find(report.iteration);
  if (!is_save(iteration) || report.task < 0 || report.task >= int64_t(iteration.tasks.size()))
    throw InvalidArgumentError(str_cat("there is no task ", report.task, " of a save"));
  const Task& task = iteration.tasks[size_t(report.task)];
  const bool current = task.generation == report.generation;
  if (current && task.state == TaskState::Saved) return {task.chunks};  // it asks again
  if (!current || task.state != TaskState::Running || iteration.finished)
    throw CancelledError("another worker has taken the place of this one, or the save has ended");
  if (report.code != StatusCode::Ok) {
    fail_save(report.iteration, report.code,
              str_cat(kWorkerType, " ", task.worker, " (", state_.workers[task.worker].address,
                      "): ", report.error));
    return {task.chunks};
  }
  // A chunk below is one of which the answer was lost.
  if (report.chunk > task.chunks || report.elements < 0)
    throw InvalidArgumentError(str_cat("chunk ", report.chunk, " comes before ", task.chunks));
  if (report.elements > 0 && report.chunk == task.chunks) publish(report.iteration, report);
  if (report.ended)
    commit({.kind = EntryKind::State,
            .iteration = report.iteration,
            .task = report.task,
            .number = task.generation,
            .worker = task.worker,
            .state = TaskState::Saved});
  return {task.chunks};
}

/// Ends the work of all workers; finish_saves() writes the reason into ERROR.
DISTRIBUTE_INLINE void Dispatcher::fail_save(uint64_t id, StatusCode code,
                                             const std::string& error) {
  commit({.kind = EntryKind::End, .iteration = id, .code = code, .error = error});
  config_.cluster.print(
      str_cat("the save to ", state_.iterations.at(id).save.path, " has failed: ", error));
}

DISTRIBUTE_INLINE void Dispatcher::finish_saves() {
  if (Clock::now() < finish_saves_at_) return;
  std::vector<uint64_t> ended;
  for (const auto& [id, iteration] : state_.iterations) {
    if (!is_save(iteration)) continue;
    const bool saved = !iteration.tasks.empty() &&
                       std::all_of(iteration.tasks.begin(), iteration.tasks.end(),
                                   [](const Task& task) { return task.state == TaskState::Saved; });
    if (iteration.finished || saved) ended.push_back(id);
  }
  for (const uint64_t id : ended) {
    const Iteration& save = state_.iterations.at(id);
    const ChunkedSnapshot snapshot(save.save.path);
    try {
      save.finished ? snapshot.fail(save.code, save.error) : snapshot.end();
      drop(id);
      continue;
    } catch (const Error& error) {
      config_.cluster.print(str_cat("the data service tries again to end a save: ", error.what()));
    }
    finish_saves_at_ = Clock::now() + std::chrono::seconds(10);
  }
}

}  // namespace distribute::data::service_internal
