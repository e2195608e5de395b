#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
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

/// Temporary directories of workers that this job, which has `workers`, does not have: an earlier
/// one had more. `present`: the numbers of those that write now; in an elastic job they need not be
/// 0, 1, 2 ..., and workers with a loop of their own are not among them.
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

/// Also when writing fails: what the other workers wrote is then of no use.
class TemporaryDirectoryRemoval {
 public:
  TemporaryDirectoryRemoval(std::string dirpath, Strategy& strategy)
      : dirpath_(std::move(dirpath)), strategy_(strategy) {}
  TemporaryDirectoryRemoval(const TemporaryDirectoryRemoval&) = delete;
  ~TemporaryDirectoryRemoval() {
    io::remove_recursively(temporary_directory(dirpath_, strategy_)).IgnoreError();
  }

 private:
  const std::string dirpath_;
  Strategy& strategy_;
};

DISTRIBUTE_INLINE void write_on_all_workers(
    Strategy& strategy, const std::string& path, const std::string& worker_directory,
    const std::function<void(const std::string& path)>& write, const AroundWrite& around) {
  StrategyExtended& extended = strategy.extended();
  const std::string directory =
      worker_directory.empty() ? directory_or_here(path) : worker_directory;
  const auto present = extended.all_gather_texts(std::to_string(extended.task_id()));
  strategy_internal::on_all_workers_for_long(extended, [&]() -> std::string {
    if (extended.should_checkpoint()) {
      remove_other_workers(directory, extended.num_workers(), present);
      around([&] { write(path); });
    } else {
      const TemporaryDirectoryRemoval removal(directory, strategy);
      write(io::join_path(temporary_directory(directory, strategy), io::file_name_of(path)));
    }
    return "";
  });
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
