#pragma once
/// Keeps the newest checkpoints of a directory and deletes older ones.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/checkpoint.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute::checkpoint_internal {
class DirectoryLock;
}

namespace distribute::train {

struct CheckpointState;

struct CheckpointManagerOptions {  // options of CheckpointManager
  std::string directory;
  std::optional<int64_t> max_to_keep = {};  // unset: keeps all
  std::optional<double> keep_checkpoint_every_n_hours = {};
  std::string checkpoint_name = "ckpt";
  std::function<int64_t()> step_counter = {};       // for checkpoint_interval
  std::optional<int64_t> checkpoint_interval = {};  // steps between saves
  std::function<void()> init_fn = {};               // called when there is no checkpoint to restore
  std::function<double()> clock = {};               // seconds since 1970; unset: the system's
  /// Directory in which workers other than the chief write below `workertemp_<id>`; empty:
  /// `directory`.
  std::string worker_directory = {};
  /// Number of saves in a row that may fail for a temporary reason (UnavailableError,
  /// DeadlineExceededError, AbortedError): training continues with a warning on the chief, and the
  /// next save tries again. The failure after them throws. A full disk is not temporary: no part of
  /// the job frees space on it, and training without checkpoints may be lost.
  int64_t max_failed_saves = 0;
};

/// Manages checkpoints DIRECTORY/NAME-1, NAME-2, ... and the directory's `checkpoint` file. One
/// thread.
/// 1. It continues the list of an earlier manager, and removes the partial files of a killed one.
/// 2. A failed save leaves earlier checkpoints and the manager unchanged, and removes its files.
/// 3. With several workers every worker makes the manager and calls its methods; only the chief
///    reads and writes the `checkpoint` file and deletes, and the others follow it.
/// 4. From the first save on the directory belongs to this job: the first save of another job there
///    is refused.
/// Source  tf.train.CheckpointManager
class CheckpointManager {
 public:
  /// Makes the directory.
  /// Throws  InvalidArgumentError for max_to_keep < 1, for an interval without counter and for
  ///          names with a slash; PermissionDeniedError and others with the path when it cannot be
  ///          made; DataLossError for a damaged `checkpoint` file; FailedPreconditionError when
  ///          that file is missing although several checkpoints of this name exist.
  CheckpointManager(Checkpoint& checkpoint, CheckpointManagerOptions options);

  /// Saves, and deletes old checkpoints. Returns the path, or nullopt within the interval, for a
  /// step saved already, and for a failure that max_failed_saves allows. The default number is the
  /// checkpoint's save counter.
  /// Throws  what Checkpoint::write throws; FailedPreconditionError that names the process of
  ///          another job that saves into the directory.
  std::optional<std::string> save(std::optional<int64_t> checkpoint_number = {},
                                  bool check_interval = true,
                                  const CheckpointOptions& options = {});
  /// Waits for a save in the background, if there is one. Every worker calls it.
  /// Throws  its error, on all workers; latest_checkpoint() is then again the one before that save.
  void sync();
  /// Restores the newest checkpoint and returns its path, or nullopt when there is none. A warning
  /// names values that no object has taken by the end, such as the slots of another optimizer.
  std::optional<std::string> restore_latest();
  /// Calls restore_latest(); without a checkpoint it calls init_fn and returns nullopt.
  std::optional<std::string> restore_or_initialize();

  /// Returns the constructor's arguments, and the newest checkpoint's path, if there is one.
  Checkpoint& checkpoint() const { return checkpoint_; }
  const std::string& directory() const { return options_.directory; }
  const std::optional<std::string>& latest_checkpoint() const { return lists_.latest; }
  /// Returns the paths, oldest first, without those kept for ever: by
  /// keep_checkpoint_every_n_hours, or because they were saved without a manager.
  std::vector<std::string> checkpoints() const;

 private:
  struct Entry {
    std::string path;
    double time;
  };
  struct Lists {
    std::vector<Entry> kept;  // oldest first
    std::optional<std::string> latest;
    double last_preserved = 0;  // time of the last one kept for ever
  };
  struct Work;  // actions of the chief before and after it writes a checkpoint
  bool is_due() const;
  bool forgives(const std::exception_ptr& error);
  Work work_for(const std::string& path, const std::vector<Entry>& old);
  static bool names(const Lists& lists, const std::string& path);
  std::string look_at_directory() const;
  std::optional<CheckpointState> state_from_files() const;
  void adopt(double time, const std::string& state_text);
  double now() const;
  std::vector<Entry> add(const std::string& path);
  std::vector<Entry> drop_old();

  Checkpoint& checkpoint_;
  CheckpointManagerOptions options_;
  Lists lists_;
  std::optional<Lists> before_;  // lists before a save that is still being written
  std::optional<int64_t> last_step_;
  std::shared_ptr<checkpoint_internal::DirectoryLock> lock_;
  int64_t failed_saves_ = 0;  // in a row
  bool swept_ = false;
};

/// Removes the files of a checkpoint, index first; missing files are no error.
void remove_checkpoint(const std::string& prefix);

}  // namespace distribute::train
