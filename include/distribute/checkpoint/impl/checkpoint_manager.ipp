#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/path.hpp>
#include <distribute/strategy/all_workers.hpp>
#include <distribute/strategy/strategy.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <tuple>

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
    : checkpoint_(checkpoint), options_(std::move(options)) {
  if (options_.max_to_keep && *options_.max_to_keep < 1)
    throw InvalidArgumentError(concat("CheckpointManager: max_to_keep must be at least 1, or none ",
                                      "for all; it is ", *options_.max_to_keep));
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
  adopt(std::strtod(found.c_str(), nullptr), found.substr(found.find('\n') + 1));
}

/// What the chief tells the others: its clock and the text of the state file, if there is one.
DISTRIBUTE_INLINE std::string CheckpointManager::look_at_directory() const {
  io::FileSystem& files = *value_or_throw(io::file_system_for(options_.directory));
  throw_if_error(files.make_dirs(options_.directory));
  const auto state = get_checkpoint_state(options_.directory);
  return concat(std::setprecision(17), now(), "\n", state ? encode_checkpoint_state(*state) : "");
}

DISTRIBUTE_INLINE double CheckpointManager::now() const {
  if (options_.clock) return options_.clock();
  using namespace std::chrono;
  return duration<double>(system_clock::now().time_since_epoch()).count();
}

/// Goes on from the state file of an earlier run. Checkpoints not younger than the last one kept
/// for good are kept for good as well, as are all without times: no manager made them.
DISTRIBUTE_INLINE void CheckpointManager::adopt(double time, const std::string& state_text) {
  std::optional<CheckpointState> state;
  if (!state_text.empty()) state = decode_checkpoint_state(state_text, options_.directory);
  last_preserved_ = state ? state->last_preserved_timestamp.value_or(0.0) : time - 1;
  if (!state) return;
  latest_ = state->model_checkpoint_path;
  if (time < last_preserved_) {
    std::fprintf(stderr,
                 "warning: the clock went back since the checkpoints in %s were written; their "
                 "times count as now\n",
                 options_.directory.c_str());
    last_preserved_ = time;
  }
  const auto& times = state->all_model_checkpoint_timestamps;
  for (size_t i = 0; i < state->all_model_checkpoint_paths.size() && i < times.size(); ++i) {
    const double saved = std::min(times[i], time);
    if (saved > last_preserved_) kept_.push_back({state->all_model_checkpoint_paths[i], saved});
  }
}

DISTRIBUTE_INLINE void CheckpointManager::write_state() const {
  CheckpointState state;
  for (const Entry& entry : kept_) {
    state.all_model_checkpoint_paths.push_back(entry.path);
    state.all_model_checkpoint_timestamps.push_back(entry.time);
  }
  state.model_checkpoint_path = *latest_;
  state.last_preserved_timestamp = last_preserved_;
  update_checkpoint_state(options_.directory, state);
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
  while (options_.max_to_keep && int64_t(kept_.size()) > *options_.max_to_keep) {
    const Entry entry = kept_.front();
    kept_.erase(kept_.begin());
    if (hours && entry.time - *hours * 3600 >= last_preserved_)
      last_preserved_ = entry.time;
    else
      old.push_back(entry);
  }
  return old;
}

/// What a killed program left of files it had not finished. Only who saves does this: others may
/// look at the directory while a file is being written.
DISTRIBUTE_INLINE void CheckpointManager::sweep_temporary_files() {
  if (swept_) return;
  checkpoint_internal::remove_files(options_.directory, [&](const std::string& file) {
    if (file.find(".tempstate") == std::string::npos) return false;
    return file.starts_with("checkpoint.tempstate") ||
           checkpoint_internal::is_checkpoint_of(file, options_.checkpoint_name);
  });
  swept_ = true;
}

/// The state file stops naming old checkpoints before these are deleted, so that a crash in between
/// leaves files that nobody needs rather than names without files.
DISTRIBUTE_INLINE std::optional<std::string> CheckpointManager::save(
    std::optional<int64_t> checkpoint_number, bool check_interval) {
  if (check_interval && !is_due()) return std::nullopt;
  const int64_t counter = checkpoint_.save_counter();
  const auto before = std::make_tuple(kept_, latest_, last_preserved_);
  const std::string path =
      io::join_path(options_.directory,
                    concat(options_.checkpoint_name, "-", checkpoint_number.value_or(counter + 1)));
  std::vector<Entry> old;
  checkpoint_.set_save_counter(counter + 1);
  try {
    checkpoint_.write_with(path, options_.worker_directory, [&](const auto& write) {
      sweep_temporary_files();
      write();
      old = add(path);
      write_state();
    });
  } catch (...) {
    std::tie(kept_, latest_, last_preserved_) = before;
    checkpoint_.set_save_counter(counter);
    throw;
  }
  StrategyExtended& extended = checkpoint_.strategy().extended();
  if (!extended.should_checkpoint()) add(path);
  if (options_.step_counter) last_step_ = options_.step_counter();
  strategy_internal::on_all_workers(extended, [&] {
    for (const Entry& entry : old) remove_checkpoint(entry.path);
    return std::string();
  });
  return path;
}

/// Puts a new checkpoint on the list; gives those that are to go.
DISTRIBUTE_INLINE std::vector<CheckpointManager::Entry> CheckpointManager::add(
    const std::string& path) {
  std::erase_if(kept_, [&](const Entry& entry) { return entry.path == path; });
  kept_.push_back({path, now()});
  latest_ = path;
  return drop_old();
}

DISTRIBUTE_INLINE std::optional<std::string> CheckpointManager::restore_latest() {
  if (!latest_) return std::nullopt;
  checkpoint_.restore(*latest_).expect_partial();
  if (options_.step_counter) last_step_ = options_.step_counter();
  return latest_;
}

DISTRIBUTE_INLINE std::optional<std::string> CheckpointManager::restore_or_initialize() {
  if (auto path = restore_latest()) return path;
  if (options_.init_fn) options_.init_fn();
  return std::nullopt;
}

DISTRIBUTE_INLINE std::vector<std::string> CheckpointManager::checkpoints() const {
  std::vector<std::string> paths;
  for (const Entry& entry : kept_) paths.push_back(entry.path);
  return paths;
}

}  // namespace distribute::train
