#pragma once
#include <distribute/base/detail/number_text.hpp>
#include <distribute/base/detail/seconds.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/detail/directory_lock.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/strategy/detail/all_workers.hpp>
#include <distribute/strategy/strategy.hpp>

#include <algorithm>
#include <utility>

namespace distribute::checkpoint_internal {

/// Removes the files of a directory whose name the predicate picks.
DISTRIBUTE_INLINE void remove_files(const std::string& directory,
                                    const std::function<bool(const std::string&)>& picked) {
  io::FileSystem& files = *value_or_throw(io::file_system_for(directory));
  for (const std::string& file : value_or_throw(files.list_directory(directory)))
    if (picked(file)) throw_if_error(io::remove_recursively(io::join_path(directory, file)));
}

/// "ckpt-12" belongs to manager "ckpt"; "ckpt-b-12" does not.
DISTRIBUTE_INLINE bool is_checkpoint_of(const std::string& file, const std::string& name) {
  if (!file.starts_with(name + "-")) return false;
  const size_t digits = file.find_first_not_of("-0123456789", name.size() + 1);
  return digits != std::string::npos && digits > name.size() + 1 && file[digits] == '.';
}

/// Removes unfinished files of a killed program. Only the process that saves calls it: others may
/// read the directory while a file is being written.
DISTRIBUTE_INLINE void sweep_temporary_files(const std::string& directory,
                                             const std::string& name) {
  remove_files(directory, [&](const std::string& file) {
    if (file.find(".tempstate") == std::string::npos) return false;
    return file.starts_with("checkpoint.tempstate") || is_checkpoint_of(file, name);
  });
}

}  // namespace distribute::checkpoint_internal

namespace distribute::train {

DISTRIBUTE_INLINE void remove_checkpoint(const std::string& prefix) {
  const std::string directory = io::directory_of(prefix), name = io::file_name_of(prefix);
  throw_if_error(io::remove_recursively(prefix + ".index"));
  checkpoint_internal::remove_files(
      directory.empty() ? "." : directory,
      [&](const std::string& file) { return file.starts_with(name + ".data-"); });
}

DISTRIBUTE_INLINE CheckpointManager::CheckpointManager(Checkpoint& checkpoint,
                                                       CheckpointManagerOptions options)
    : checkpoint_(checkpoint),
      options_(std::move(options)),
      lock_(std::make_shared<checkpoint_internal::DirectoryLock>(options_.directory)) {
  if (options_.max_to_keep && *options_.max_to_keep < 1)
    throw InvalidArgumentError(
        str_cat("CheckpointManager: max_to_keep must be at least 1, or none ", "for all; it is ",
                *options_.max_to_keep));
  if (options_.checkpoint_interval && !options_.step_counter)
    throw InvalidArgumentError("CheckpointManager: checkpoint_interval needs step_counter");
  const std::string& name = options_.checkpoint_name;
  if (name.empty() || name.find('/') != std::string::npos)
    throw InvalidArgumentError("CheckpointManager: checkpoint_name '" + name +
                               "' must be a file name");
  if (options_.directory.empty())
    throw InvalidArgumentError("CheckpointManager: directory is empty");
  StrategyExtended& extended = checkpoint_.strategy().extended();
  const std::string found = strategy_internal::on_all_workers(extended, [&] {
    return extended.should_checkpoint() ? look_at_directory() : std::string();
  })[0];
  adopt(base_internal::leading_number(found), found.substr(found.find('\n') + 1));
}

/// Returns the data that the chief sends to the others: its clock and the text of the state file,
/// if there is one.
DISTRIBUTE_INLINE std::string CheckpointManager::look_at_directory() const {
  io::FileSystem& files = *value_or_throw(io::file_system_for(options_.directory));
  throw_if_error(files.make_dirs(options_.directory));
  auto state = get_checkpoint_state(options_.directory);
  if (state && !state->moved_from.empty())
    log_warning("checkpoint", str_cat(io::join_path(options_.directory, "checkpoint"), " names ",
                                      state->moved_from, ", which is not there; ",
                                      state->model_checkpoint_path, " is taken instead"));
  if (!state) state = state_from_files();
  return str_cat(base_internal::exact_word(now()), "\n",
                 state ? encode_checkpoint_state(*state) : "");
}

/// Makes the state without a state file. Starting again at step 0 would overwrite existing files. A
/// single checkpoint is left by a program that was killed before it wrote its first state file.
DISTRIBUTE_INLINE std::optional<CheckpointState> CheckpointManager::state_from_files() const {
  const auto found =
      checkpoint_internal::numbered_checkpoints(options_.directory, options_.checkpoint_name);
  if (found.empty()) return std::nullopt;
  if (found.size() > 1) throw FailedPreconditionError(why_no_checkpoint(options_.directory));
  log_warning("checkpoint", str_cat(options_.directory, " has no file `checkpoint`; its only ",
                                    "checkpoint, ", found[0], ", is taken"));
  CheckpointState state;
  state.model_checkpoint_path = found[0];
  state.all_model_checkpoint_paths = {found[0]};
  state.all_model_checkpoint_timestamps = {now()};
  return state;
}

DISTRIBUTE_INLINE double CheckpointManager::now() const {
  return options_.clock ? options_.clock() : base_internal::unix_seconds();
}

/// Goes on from the state file of an earlier run. Checkpoints not younger than the last one kept
/// for good are kept for good as well, as are all without times: no manager made them.
DISTRIBUTE_INLINE void CheckpointManager::adopt(double time, const std::string& state_text) {
  std::optional<CheckpointState> state;
  if (!state_text.empty()) state = decode_checkpoint_state(state_text, options_.directory);
  lists_.last_preserved = state ? state->last_preserved_timestamp.value_or(0.0) : time - 1;
  if (!state) return;
  lists_.latest = state->model_checkpoint_path;
  if (time < lists_.last_preserved) {
    log_warning("checkpoint",
                str_cat("the clock went back since the checkpoints in ", options_.directory,
                        " were written; their times count as now"));
    lists_.last_preserved = time;
  }
  const auto& times = state->all_model_checkpoint_timestamps;
  for (size_t i = 0; i < state->all_model_checkpoint_paths.size() && i < times.size(); ++i) {
    const double saved = std::min(times[i], time);
    if (saved > lists_.last_preserved)
      lists_.kept.push_back({state->all_model_checkpoint_paths[i], saved});
  }
}

/// Holds all it needs: in the background it may outlive the manager.
struct CheckpointManager::Work {
  std::string directory, name;
  CheckpointState state;
  bool sweeps = false;
  std::vector<std::string> old;  // to be removed here
  std::shared_ptr<checkpoint_internal::DirectoryLock> lock;

  void prepare() const;
  void publish() const;
};

DISTRIBUTE_INLINE void CheckpointManager::Work::prepare() const {
  lock->hold();
  if (sweeps) checkpoint_internal::sweep_temporary_files(directory, name);
}

/// The state file stops naming old checkpoints before these are deleted, so that a crash in between
/// leaves files that it does not name rather than names without files.
DISTRIBUTE_INLINE void CheckpointManager::Work::publish() const {
  update_checkpoint_state(directory, state);
  try {
    for (const std::string& prefix : old) remove_checkpoint(prefix);
  } catch (const Error& error) {
    log_warning("checkpoint", str_cat("an old checkpoint was not removed: ", error.what()));
  }
}

DISTRIBUTE_INLINE CheckpointManager::Work CheckpointManager::work_for(
    const std::string& path, const std::vector<Entry>& old) {
  Work work{options_.directory, options_.checkpoint_name, {}, !swept_, {}, lock_};
  for (const Entry& entry : lists_.kept) {
    work.state.all_model_checkpoint_paths.push_back(entry.path);
    work.state.all_model_checkpoint_timestamps.push_back(entry.time);
  }
  work.state.model_checkpoint_path = path;
  work.state.last_preserved_timestamp = lists_.last_preserved;
  for (const Entry& entry : old) work.old.push_back(entry.path);
  swept_ = true;
  return work;
}

DISTRIBUTE_INLINE bool CheckpointManager::names(const Lists& lists, const std::string& path) {
  return lists.latest == path ||
         std::any_of(lists.kept.begin(), lists.kept.end(),
                     [&](const Entry& entry) { return entry.path == path; });
}

DISTRIBUTE_INLINE bool CheckpointManager::is_due() const {
  if (!options_.checkpoint_interval || !last_step_) return true;
  const int64_t step = options_.step_counter();
  return step != *last_step_ && step >= *last_step_ + *options_.checkpoint_interval;
}

/// Takes the oldest off the list; gives those whose files are to go.
DISTRIBUTE_INLINE std::vector<CheckpointManager::Entry> CheckpointManager::drop_old() {
  std::vector<Entry> old;
  const auto& hours = options_.keep_checkpoint_every_n_hours;
  while (options_.max_to_keep && int64_t(lists_.kept.size()) > *options_.max_to_keep) {
    const Entry entry = lists_.kept.front();
    lists_.kept.erase(lists_.kept.begin());
    if (hours && entry.time - *hours * 3600 >= lists_.last_preserved)
      lists_.last_preserved = entry.time;
    else
      old.push_back(entry);
  }
  return old;
}

DISTRIBUTE_INLINE bool CheckpointManager::forgives(const std::exception_ptr& error) {
  const auto [code, message] = strategy_internal::describe_failure(error);
  if (!may_pass(code) || ++failed_saves_ > options_.max_failed_saves) return false;
  if (checkpoint_.strategy().extended().should_checkpoint())
    log_warning("checkpoint", str_cat("saving failed (", failed_saves_, " of ",
                                      options_.max_failed_saves, " in a row that may): ", message));
  return true;
}

DISTRIBUTE_INLINE void CheckpointManager::sync() {
  if (!before_) return checkpoint_.sync();
  const Lists before = *std::exchange(before_, std::nullopt);
  try {
    checkpoint_.sync();
  } catch (...) {
    lists_ = before;
    throw;
  }
  failed_saves_ = 0;
}

DISTRIBUTE_INLINE std::optional<std::string> CheckpointManager::save(
    std::optional<int64_t> checkpoint_number, bool check_interval,
    const CheckpointOptions& options) {
  if (check_interval && !is_due()) return std::nullopt;
  try {
    sync();
  } catch (...) {
    if (!forgives(std::current_exception())) throw;
  }
  const int64_t counter = checkpoint_.save_counter();
  const Lists before = lists_;
  const std::string path = io::join_path(
      options_.directory,
      str_cat(options_.checkpoint_name, "-", checkpoint_number.value_or(counter + 1)));
  const std::vector<Entry> old = add(path);
  checkpoint_.set_save_counter(counter + 1);
  try {
    const auto work = std::make_shared<Work>(work_for(path, old));
    if (!options.enable_async) work->old.clear();  // below: when all workers know of the new one
    checkpoint_.write_with(path,
                           {.worker_directory = options_.worker_directory,
                            .is_checkpoint = true,
                            .is_new = !names(before, path)},
                           {[work] { work->prepare(); }, [work] { work->publish(); }}, options);
  } catch (...) {
    lists_ = before;
    checkpoint_.set_save_counter(counter);
    if (forgives(std::current_exception())) return std::nullopt;
    throw;
  }
  if (options_.step_counter) last_step_ = options_.step_counter();
  if (options.enable_async) {
    before_ = before;
    return path;
  }
  failed_saves_ = 0;
  strategy_internal::on_all_workers(checkpoint_.strategy().extended(), [&] {
    if (checkpoint_.strategy().extended().should_checkpoint())
      for (const Entry& entry : old) remove_checkpoint(entry.path);
    return std::string();
  });
  return path;
}

/// Puts a new checkpoint on the list; gives those that are to go.
DISTRIBUTE_INLINE std::vector<CheckpointManager::Entry> CheckpointManager::add(
    const std::string& path) {
  std::erase_if(lists_.kept, [&](const Entry& entry) { return entry.path == path; });
  lists_.kept.push_back({path, now()});
  lists_.latest = path;
  return drop_old();
}

DISTRIBUTE_INLINE std::optional<std::string> CheckpointManager::restore_latest() {
  sync();
  if (!lists_.latest) return std::nullopt;
  checkpoint_.restore(*lists_.latest);
  if (options_.step_counter) last_step_ = options_.step_counter();
  return lists_.latest;
}

DISTRIBUTE_INLINE std::optional<std::string> CheckpointManager::restore_or_initialize() {
  if (auto path = restore_latest()) return path;
  if (options_.init_fn) options_.init_fn();
  return std::nullopt;
}

DISTRIBUTE_INLINE std::vector<std::string> CheckpointManager::checkpoints() const {
  std::vector<std::string> paths;
  for (const Entry& entry : lists_.kept) paths.push_back(entry.path);
  return paths;
}

}  // namespace distribute::train
