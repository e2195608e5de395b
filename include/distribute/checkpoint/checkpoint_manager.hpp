#pragma once
/// Keeps the newest checkpoints of a directory and deletes older ones.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/checkpoint.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace distribute::train {

struct CheckpointManagerOptions {
  std::string directory;
  std::optional<int64_t> max_to_keep = {};  // none: all
  std::optional<double> keep_checkpoint_every_n_hours = {};
  std::string checkpoint_name = "ckpt";
  std::function<int64_t()> step_counter = {};       // for checkpoint_interval
  std::optional<int64_t> checkpoint_interval = {};  // steps between saves
  std::function<void()> init_fn = {};               // when there is nothing to restore
  std::function<double()> clock = {};               // seconds since 1970; unset: the system's
  /// Workers other than the chief write below `workertemp_<id>` in here; empty: in `directory`.
  std::string worker_directory = {};
};

/// Checkpoints DIRECTORY/NAME-1, NAME-2, ... and the directory's `checkpoint` file. Takes over what
/// an earlier manager left there, and removes what a killed one left half written. A save that
/// fails leaves earlier checkpoints and the manager as they were. With several workers every worker
/// makes the manager and calls its methods; the chief alone reads and writes the `checkpoint` file
/// and deletes, and the others follow it. One thread.
/// Source  tf.train.CheckpointManager
class CheckpointManager {
 public:
  /// Makes the directory.
  /// Throws  InvalidArgumentError for max_to_keep < 1, for an interval without counter and for
  ///         names with a slash; PermissionDeniedError and others with the path when it cannot be
  ///         made; DataLossError for a damaged `checkpoint` file.
  CheckpointManager(Checkpoint& checkpoint, CheckpointManagerOptions options);

  /// Saves and deletes what is too old; gives the path, or nothing within the interval and for a
  /// step saved already. The number is the checkpoint's save counter unless given.
  std::optional<std::string> save(std::optional<int64_t> checkpoint_number = {},
                                  bool check_interval = true);
  /// Restores the newest checkpoint; its path, or nothing when there is none.
  std::optional<std::string> restore_latest();
  /// restore_latest(), else init_fn.
  std::optional<std::string> restore_or_initialize();

  Checkpoint& checkpoint() const { return checkpoint_; }
  const std::string& directory() const { return options_.directory; }
  const std::optional<std::string>& latest_checkpoint() const { return latest_; }
  /// Oldest first; without those kept for good: by keep_checkpoint_every_n_hours, or because they
  /// were saved without a manager.
  std::vector<std::string> checkpoints() const;

 private:
  struct Entry {
    std::string path;
    double time;
  };
  bool is_due() const;
  std::string look_at_directory() const;
  void adopt(double time, const std::string& state_text);
  double now() const;
  std::vector<Entry> add(const std::string& path);
  std::vector<Entry> drop_old();
  void write_state() const;
  void sweep_temporary_files();

  Checkpoint& checkpoint_;
  CheckpointManagerOptions options_;
  std::vector<Entry> kept_;  // oldest first
  std::optional<std::string> latest_;
  double last_preserved_ = 0;  // time of the last one kept for good
  std::optional<int64_t> last_step_;
  bool swept_ = false;
};

/// Removes the files of a checkpoint, index first; fine when some are missing.
void remove_checkpoint(const std::string& prefix);

}  // namespace distribute::train

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/checkpoint/impl/checkpoint_manager.ipp>
#endif
