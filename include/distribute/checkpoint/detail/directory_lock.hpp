#pragma once
/// Keeps two jobs from writing checkpoints into one directory.

#include <distribute/base/config.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace distribute::checkpoint_internal {

/// A lock on the file `.checkpoint_writer` of a local directory. Thread-safe.
/// 1. The system releases it when the process ends, however it ends; the file names the owner.
/// 2. Managers of one process share it, and so do processes of one job (the same
///    DISTRIBUTE_JOB_TOKEN and TF_CONFIG's cluster): a worker that takes over from a frozen chief
///    is not another job.
/// 3. On object stores, and on file systems without locks, it does nothing.
class DirectoryLock {
 public:
  explicit DirectoryLock(std::string directory) : directory_(std::move(directory)) {}

  /// Takes the lock at the first call, until this object is destroyed.
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
