#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/strategy/detail/all_workers.hpp>
#include <distribute/strategy/strategy.hpp>

#include <algorithm>
#include <charconv>

namespace distribute::checkpoint_internal {

inline constexpr std::string_view kWorkerDirectory = "workertemp_";

DISTRIBUTE_INLINE std::string temporary_directory(const std::string& dirpath, Strategy& strategy) {
  return io::join_path(dirpath, str_cat(kWorkerDirectory, strategy.extended().task_id()));
}

/// Removes temporary directories of workers that this job, which has `workers`, does not have,
/// since an earlier job had more. `present` are the numbers of those that write now; in an elastic
/// job they need not be 0, 1, 2 ..., and workers with their own loop are not among them.
DISTRIBUTE_INLINE void remove_other_workers(const std::string& dirpath, int workers,
                                            const std::vector<std::string>& present) {
  io::FileSystem& files = *value_or_throw(io::file_system_for(dirpath));
  const auto names = files.list_directory(dirpath);
  if (!names.ok()) return;  // not there yet; if it cannot be used, writing says so
  for (const std::string& name : *names) {
    if (!name.starts_with(kWorkerDirectory)) continue;
    const char *first = name.data() + kWorkerDirectory.size(), *last = name.data() + name.size();
    int id = 0;
    const auto read = std::from_chars(first, last, id);
    const bool is_worker = read.ec == std::errc() && read.ptr == last;
    if (is_worker && id >= workers &&
        std::find(present.begin(), present.end(), std::to_string(id)) == present.end())
      throw_if_error(io::remove_recursively(io::join_path(dirpath, name)));
  }
}

DISTRIBUTE_INLINE std::string directory_or_here(const std::string& path) {
  const std::string directory = io::directory_of(path);
  return directory.empty() ? "." : directory;
}

/// Takes a new checkpoint away again, unless the state file names it, as where only the answer of a
/// store was lost.
DISTRIBUTE_INLINE void remove_unless_named(const std::string& prefix) {
  const auto state = train::get_checkpoint_state(directory_or_here(prefix));
  if (!state || state->model_checkpoint_path != prefix) train::remove_checkpoint(prefix);
}

DISTRIBUTE_INLINE bool is_there(const std::string& path) {
  const auto exists = value_or_throw(io::file_system_for(path))->exists(path);
  return exists.ok() && *exists;
}

DISTRIBUTE_INLINE void read_on_all_workers(Strategy& strategy, const std::function<void()>& read) {
  StrategyExtended& extended = strategy.extended();
  strategy_internal::on_all_workers_for_long(extended, [&]() -> std::string {
    try {
      read();
    } catch (const NotFoundError& error) {
      if (extended.should_checkpoint()) throw;
      throw NotFoundError(str_cat(error.what(), "; every worker reads what the chief has written: ",
                                  "the directory must be on a shared file system"));
    }
    return "";
  });
}

}  // namespace distribute::checkpoint_internal

namespace distribute::train {

DISTRIBUTE_INLINE std::string write_dirpath(const std::string& dirpath, Strategy& strategy) {
  if (strategy.extended().should_checkpoint()) return dirpath;
  const std::string directory = checkpoint_internal::temporary_directory(dirpath, strategy);
  throw_if_error(value_or_throw(io::file_system_for(directory))->make_dirs(directory));
  return directory;
}

DISTRIBUTE_INLINE std::string write_filepath(const std::string& filepath, Strategy& strategy) {
  if (strategy.extended().should_checkpoint()) return filepath;
  return io::join_path(write_dirpath(io::directory_of(filepath), strategy),
                       io::file_name_of(filepath));
}

struct WorkerSave::State {
  std::string path;       // where this worker writes
  std::string temporary;  // the directory to remove; empty on the chief
  bool is_checkpoint = false, is_new = true;
  std::string second;                    // the ending of another file; empty: there is none
  StrategyExtended* extended = nullptr;  // null: of this process alone
  bool has_ended = false;                // all workers know how
  std::exception_ptr error = nullptr;    // of this worker's first part that failed
  std::optional<strategy_internal::LongWork> work = {};

  void look_at_path(const WorkerSaveOptions& options);
  void begin_part() {
    if (extended) work.emplace(*extended);
  }
  void agree();
  void remove_files() const;
  void undo() noexcept;
  void give_up() noexcept;
};

DISTRIBUTE_INLINE void WorkerSave::State::look_at_path(const WorkerSaveOptions& options) {
  is_checkpoint = options.is_checkpoint;
  second = options.second_file;
  is_new = options.is_new ? *options.is_new
                          : !checkpoint_internal::is_there(is_checkpoint ? path + ".index" : path);
}

/// Waits for the other workers also if this one has failed, as they must learn of the failure.
DISTRIBUTE_INLINE void WorkerSave::State::agree() {
  if (error || !temporary.empty()) undo();
  has_ended = true;
  try {
    work.reset();
    if (extended)
      strategy_internal::share_outcomes(*extended, {}, error);
    else if (error)
      std::rethrow_exception(error);
  } catch (...) {
    undo();
    throw;
  }
  has_ended = false;
}

DISTRIBUTE_INLINE void WorkerSave::State::remove_files() const {
  using namespace checkpoint_internal;
  if (is_checkpoint) {
    if (is_there(path + ".index")) remove_unless_named(path);
    return;
  }
  throw_if_error(io::remove_recursively(path));
  if (!second.empty()) throw_if_error(io::remove_recursively(path + second));
}

DISTRIBUTE_INLINE void WorkerSave::State::undo() noexcept {
  try {
    if (!temporary.empty())
      io::remove_recursively(temporary).IgnoreError();
    else if (is_new)
      remove_files();
  } catch (const std::exception& failure) {
    log_warning("checkpoint", str_cat("what a failed save wrote at ", path,
                                      " was not removed: ", failure.what()));
  }
}

DISTRIBUTE_INLINE void WorkerSave::State::give_up() noexcept {
  try {
    if (!error)
      error = std::make_exception_ptr(AbortedError("the save of " + path + " was given up"));
    agree();
  } catch (const std::exception& failure) {
    log_warning("checkpoint", failure.what());
  }
}

DISTRIBUTE_INLINE WorkerSave::WorkerSave(Strategy& strategy, const std::string& path,
                                         WorkerSaveOptions options)
    : state_(std::make_unique<State>()) {
  using namespace checkpoint_internal;
  StrategyExtended& extended = strategy.extended();
  const std::string directory =
      options.worker_directory.empty() ? directory_or_here(path) : options.worker_directory;
  state_->path = path;
  if (!extended.should_checkpoint()) {
    state_->temporary = temporary_directory(directory, strategy);
    state_->path = io::join_path(state_->temporary, io::file_name_of(path));
  }
  const auto present = extended.all_gather_texts(std::to_string(extended.task_id()));
  state_->extended = &extended;
  state_->begin_part();
  run_on_chief([&] {
    state_->is_new = false;  // until it is known
    remove_other_workers(directory, extended.num_workers(), present);
    state_->look_at_path(options);
  });
}

DISTRIBUTE_INLINE WorkerSave::WorkerSave(const std::string& path, WorkerSaveOptions options)
    : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->look_at_path(options);
}

DISTRIBUTE_INLINE WorkerSave::~WorkerSave() {
  if (!state_->has_ended) state_->give_up();
}

DISTRIBUTE_INLINE const std::string& WorkerSave::path() const { return state_->path; }
DISTRIBUTE_INLINE bool WorkerSave::is_chief() const { return state_->temporary.empty(); }

DISTRIBUTE_INLINE void WorkerSave::run(const std::function<void()>& part) {
  if (state_->error) return;
  try {
    part();
  } catch (...) {
    state_->error = std::current_exception();
  }
}

DISTRIBUTE_INLINE void WorkerSave::run_on_chief(const std::function<void()>& part) {
  if (is_chief()) run(part);
}

DISTRIBUTE_INLINE void WorkerSave::agree() {
  state_->agree();
  state_->begin_part();
}

DISTRIBUTE_INLINE void WorkerSave::commit() {
  state_->agree();
  state_->has_ended = true;
}

DISTRIBUTE_INLINE void remove_temp_dirpath(const std::string& dirpath, Strategy& strategy) {
  if (strategy.extended().should_checkpoint()) return;
  throw_if_error(
      io::remove_recursively(checkpoint_internal::temporary_directory(dirpath, strategy)));
}

DISTRIBUTE_INLINE void remove_temp_dir_with_filepath(const std::string& filepath,
                                                     Strategy& strategy) {
  remove_temp_dirpath(io::directory_of(filepath), strategy);
}

}  // namespace distribute::train
