#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/data_service/detail/dispatcher_state.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>

namespace distribute::data::service_internal {

DISTRIBUTE_INLINE void DispatcherState::apply(const JournalEntry& entry) {
  const auto task = [&]() -> Task& {
    return iterations.at(entry.iteration).tasks.at(size_t(entry.task));
  };
  switch (entry.kind) {
    case EntryKind::Dataset: datasets[entry.facts.at(0).id] = entry.facts.at(0); break;
    case EntryKind::Worker: workers[entry.worker] = {entry.name, entry.number}; break;
    case EntryKind::Iteration:
      iterations[entry.iteration] = {.job = entry.name,
                                     .dataset = entry.dataset,
                                     .pass = entry.number,
                                     .mode = entry.mode,
                                     .num_consumers = entry.num_consumers,
                                     .cached = entry.cached,
                                     .save = entry.save};
      last_iteration = std::max(last_iteration, entry.iteration);
      break;
    case EntryKind::Task: iterations.at(entry.iteration).tasks.emplace_back(); break;
    case EntryKind::State: {
      Task& changed = task();
      changed.state = entry.state;
      changed.worker = entry.worker;
      changed.generation = entry.number;
      break;
    }
    case EntryKind::Delivered: task().delivered.add(entry.delivered); break;
    case EntryKind::Split: {
      task().splits[entry.repetition].push_back({entry.begin, entry.end});
      int64_t& next = iterations.at(entry.iteration).next_item[entry.repetition];
      next = std::max(next, entry.end);
      break;
    }
    case EntryKind::End: {  // of a pass; state Gone: no reader comes back to it
      if (entry.state == TaskState::Gone) {
        iterations.erase(entry.iteration);
        break;
      }
      Iteration& ended = iterations.at(entry.iteration);
      ended.finished = true;
      ended.code = entry.code;
      ended.error = entry.error;
      break;
    }
    case EntryKind::Chunk: {  // elements [begin, end) are in the chunk before `number`
      task().delivered.add(entry.begin, entry.end);
      task().chunks = int64_t(entry.number);
      break;
    }
  }
}

DISTRIBUTE_INLINE void add_entries(uint64_t id, const Iteration& iteration,
                                   std::vector<JournalEntry>& all) {
  all.push_back({.kind = EntryKind::Iteration,
                 .iteration = id,
                 .number = iteration.pass,
                 .mode = iteration.mode,
                 .num_consumers = iteration.num_consumers,
                 .cached = iteration.cached,
                 .name = iteration.job,
                 .dataset = iteration.dataset,
                 .save = iteration.save});
  for (size_t i = 0; i < iteration.tasks.size(); ++i) {
    const Task& task = iteration.tasks[i];
    all.push_back({.kind = EntryKind::Task, .iteration = id, .task = int64_t(i)});
    all.push_back({.kind = EntryKind::State,
                   .iteration = id,
                   .task = int64_t(i),
                   .number = task.generation,
                   .worker = task.worker,
                   .state = task.state});
    all.push_back({.kind = EntryKind::Delivered,
                   .iteration = id,
                   .task = int64_t(i),
                   .delivered = task.delivered});
    if (task.chunks)
      all.push_back({.kind = EntryKind::Chunk,
                     .iteration = id,
                     .task = int64_t(i),
                     .number = uint64_t(task.chunks)});
    for (const auto& [repetition, splits] : task.splits)
      for (const SplitAnswer& split : splits)
        all.push_back({.kind = EntryKind::Split,
                       .iteration = id,
                       .task = int64_t(i),
                       .repetition = repetition,
                       .begin = split.begin,
                       .end = split.end});
  }
  if (iteration.finished)
    all.push_back({.kind = EntryKind::End,
                   .iteration = id,
                   .code = iteration.code,
                   .error = iteration.error});
}

DISTRIBUTE_INLINE std::vector<JournalEntry> DispatcherState::entries() const {
  std::vector<JournalEntry> all;
  for (const auto& [id, facts] : datasets)
    all.push_back({.kind = EntryKind::Dataset, .facts = {facts}});
  for (const auto& [number, worker] : workers)
    all.push_back({.kind = EntryKind::Worker,
                   .number = worker.start,
                   .worker = number,
                   .name = worker.address});
  for (const auto& [id, iteration] : iterations) add_entries(id, iteration, all);
  return all;
}

DISTRIBUTE_INLINE Journal::Journal(const std::string& work_dir, DispatcherState& state) {
  io::FileSystem& files = *value_or_throw(io::file_system_for(work_dir));
  if (!files.has_atomic_move())
    throw InvalidArgumentError(
        str_cat("the journal of a dispatcher needs a disk, work_dir is ", work_dir));
  throw_if_error(files.make_dirs(work_dir));
  const std::string path = io::join_path(work_dir, "journal"), fresh = path + ".new";
  if (value_or_throw(files.exists(path))) {
    auto reader = value_or_throw(io::RecordReader::open(path));
    for (std::string record;;) {
      const auto got = reader.next(record);
      // The end of the process that wrote it may have cut the last entry.
      if (reader.is_cut_off()) break;
      throw_if_error(got.status());
      if (!*got) break;
      state.apply(value_or_throw(net::parse_message<JournalEntry>(record, "journal entry")));
    }
  }
  file_.emplace(value_or_throw(io::RecordWriter::create(fresh)));
  for (const JournalEntry& entry : state.entries()) write(entry);
  throw_if_error(files.rename(fresh, path));
}

DISTRIBUTE_INLINE void Journal::write(const JournalEntry& entry) {
  throw_if_error(file_->write(net::encode_message(entry)));
  throw_if_error(file_->flush());
}

}  // namespace distribute::data::service_internal
