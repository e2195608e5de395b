#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/path.hpp>

#include <algorithm>
#include <chrono>

namespace distribute::train {

DISTRIBUTE_INLINE void remove_checkpoint(const std::string& prefix) {
  io::FileSystem& files = *value_or_throw(io::file_system_for(prefix));
  const std::string directory = io::directory_of(prefix), name = io::file_name_of(prefix);
  throw_if_error(io::remove_recursively(prefix + ".index"));
  for (const std::string& file :
       value_or_throw(files.list_directory(directory.empty() ? "." : directory)))
    if (file.rfind(name + ".data-", 0) == 0)
      throw_if_error(io::remove_recursively(io::join_path(directory, file)));
}

DISTRIBUTE_INLINE CheckpointManager::CheckpointManager(Checkpoint& checkpoint,
                                                       CheckpointManagerOptions options)
    : checkpoint_(checkpoint), options_(std::move(options)) {
  if (options_.max_to_keep && *options_.max_to_keep < 1)
    throw InvalidArgumentError(
        "CheckpointManager: max_to_keep must be at least 1, or none for all");
  if (options_.checkpoint_interval && !options_.step_counter)
    throw InvalidArgumentError("CheckpointManager: checkpoint_interval needs step_counter");
  io::FileSystem& files = *value_or_throw(io::file_system_for(options_.directory));
  throw_if_error(files.make_dirs(options_.directory));
  last_preserved_ = now();
  adopt();
}

DISTRIBUTE_INLINE double CheckpointManager::now() const {
  using namespace std::chrono;
  const double time = duration<double>(system_clock::now().time_since_epoch()).count();
  return std::max(time, latest_time_);  // a clock that went back must not confuse the order
}

/// Goes on from the state file of an earlier run.
DISTRIBUTE_INLINE void CheckpointManager::adopt() {
  const auto state = get_checkpoint_state(options_.directory);
  if (!state) return;
  const auto& times = state->all_model_checkpoint_timestamps;
  for (size_t i = 0; i < state->all_model_checkpoint_paths.size(); ++i) {
    const std::string& path = state->all_model_checkpoint_paths[i];
    kept_.push_back({path, i < times.size() ? times[i] : now()});
    latest_time_ = std::max(latest_time_, kept_.back().time);
  }
  if (state->last_preserved_timestamp) last_preserved_ = *state->last_preserved_timestamp;
}

DISTRIBUTE_INLINE void CheckpointManager::write_state() const {
  CheckpointState state;
  for (const Entry& entry : kept_) {
    state.all_model_checkpoint_paths.push_back(entry.path);
    state.all_model_checkpoint_timestamps.push_back(entry.time);
  }
  state.model_checkpoint_path = kept_.back().path;
  state.last_preserved_timestamp = last_preserved_;
  update_checkpoint_state(options_.directory, state);
}

DISTRIBUTE_INLINE bool CheckpointManager::is_due() const {
  if (!options_.step_counter || !last_step_) return true;
  const int64_t step = options_.step_counter();
  if (step == *last_step_) return false;
  return !options_.checkpoint_interval || step - *last_step_ >= *options_.checkpoint_interval;
}

/// The state file no longer names what is deleted before it is deleted, so that a crash in between
/// leaves files that nobody needs rather than names without files.
DISTRIBUTE_INLINE void CheckpointManager::delete_old() {
  if (!options_.max_to_keep) return write_state();
  std::vector<Entry> old;
  while (int64_t(kept_.size()) > *options_.max_to_keep) {
    const Entry entry = kept_.front();
    kept_.erase(kept_.begin());
    const auto& hours = options_.keep_checkpoint_every_n_hours;
    if (hours && entry.time - last_preserved_ >= *hours * 3600)
      last_preserved_ = entry.time;
    else
      old.push_back(entry);
  }
  write_state();
  for (const Entry& entry : old) remove_checkpoint(entry.path);
}

DISTRIBUTE_INLINE std::optional<std::string> CheckpointManager::save(
    std::optional<int64_t> checkpoint_number, bool check_interval) {
  if (check_interval && !is_due()) return std::nullopt;
  const int64_t before = checkpoint_.save_counter();
  checkpoint_.set_save_counter(before + 1);
  const int64_t number = checkpoint_number.value_or(before + 1);
  const std::string path =
      io::join_path(options_.directory, options_.checkpoint_name + "-" + std::to_string(number));
  try {
    checkpoint_.write(path);
  } catch (...) {
    checkpoint_.set_save_counter(before);
    throw;
  }
  std::erase_if(kept_, [&](const Entry& entry) { return entry.path == path; });
  latest_time_ = now();
  kept_.push_back({path, latest_time_});
  delete_old();
  if (options_.step_counter) last_step_ = options_.step_counter();
  return path;
}

DISTRIBUTE_INLINE std::optional<std::string> CheckpointManager::restore_latest() {
  const std::optional<std::string> path = latest_checkpoint();
  if (!path) return std::nullopt;
  checkpoint_.restore(*path).expect_partial();
  if (options_.step_counter) last_step_ = options_.step_counter();
  return path;
}

DISTRIBUTE_INLINE std::optional<std::string> CheckpointManager::restore_or_initialize() {
  if (auto path = restore_latest()) return path;
  if (options_.init_fn) options_.init_fn();
  return std::nullopt;
}

DISTRIBUTE_INLINE std::optional<std::string> CheckpointManager::latest_checkpoint() const {
  if (kept_.empty()) return std::nullopt;
  return kept_.back().path;
}

DISTRIBUTE_INLINE std::vector<std::string> CheckpointManager::checkpoints() const {
  std::vector<std::string> paths;
  for (const Entry& entry : kept_) paths.push_back(entry.path);
  return paths;
}

}  // namespace distribute::train
