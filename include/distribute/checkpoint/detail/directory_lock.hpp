#pragma once
/// Keeps two jobs from writing checkpoints into one directory.

#include <distribute/base/config.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace distribute::checkpoint_internal {

/// A lock on the file `.checkpoint_writer` of a local directory, which the system gives back when
/// the process ends, however it ends; the file says who has it. Managers of one process share it,
/// and so do processes of one job (the same DISTRIBUTE_JOB_TOKEN and TF_CONFIG's cluster): a worker
/// that takes over from a frozen chief is none of two jobs. Where the file system has no locks, and
/// on object stores, it does nothing. Thread-safe.
class DirectoryLock {
 public:
  explicit DirectoryLock(std::string directory) : directory_(std::move(directory)) {}

  /// Takes the lock at the first call, until this object goes.
  /// Throws  FailedPreconditionError that names directory and owner when another job has it.
  void hold();

  /// The lock of this process on one file.
  struct Held;

 private:
  const std::string directory_;
  std::mutex mutex_;  // guards held_
  std::shared_ptr<Held> held_;
};

}  // namespace distribute::checkpoint_internal
