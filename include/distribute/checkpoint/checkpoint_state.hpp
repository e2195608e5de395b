#pragma once
/// The file that lists a directory's checkpoints, and the paths at which each worker writes.

#include <distribute/base/config.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::train {

/// Contents of a `checkpoint` file. Source  tensorflow/python/training/checkpoint_state.proto
struct CheckpointState {
  std::string model_checkpoint_path;                    // the latest
  std::vector<std::string> all_model_checkpoint_paths;  // oldest first
  std::vector<double> all_model_checkpoint_timestamps;  // seconds since 1970, or empty
  std::optional<double> last_preserved_timestamp;
  /// The file's path of the latest, if get_checkpoint_state found it elsewhere; not written.
  std::string moved_from = {};
};

/// Returns the text of the file, as TensorFlow writes it.
std::string encode_checkpoint_state(const CheckpointState& state);

/// Parses the text; `file` is for messages.
/// Throws  DataLossError with the line that cannot be parsed, and when no path is given.
CheckpointState decode_checkpoint_state(std::string_view text, const std::string& file);

/// Reads the state of a directory, with all paths absolute or relative to the current directory;
/// nullopt if the file is missing. A checkpoint that is not at its path, as after the directory was
/// moved or copied, is searched beside the file under the same name. A damaged file is an error,
/// unlike in TensorFlow, which logs it and starts afresh: a run that begins again at step 0 would
/// delete its own checkpoints. The error names the checkpoint beside the file that can be restored.
/// Source  tf.train.get_checkpoint_state
std::optional<CheckpointState> get_checkpoint_state(
    const std::string& checkpoint_dir, const std::string& latest_filename = "checkpoint");

/// Replaces the whole file. Paths inside the directory are written relative to it, so that the
/// directory can be moved.
/// Source  tf.compat.v1.train.update_checkpoint_state
void update_checkpoint_state(const std::string& checkpoint_dir, CheckpointState state,
                             const std::string& latest_filename = "checkpoint");

/// Returns the prefix of the newest checkpoint in a directory, if its index file exists.
/// Source  tf.train.latest_checkpoint
std::optional<std::string> latest_checkpoint(const std::string& checkpoint_dir,
                                             const std::string& latest_filename = "checkpoint");

/// Explains why latest_checkpoint() finds none, with a remedy: it names the directory, the missing
/// state file or the path in it, and the newest checkpoint beside it.
std::string why_no_checkpoint(const std::string& checkpoint_dir,
                              const std::string& latest_filename = "checkpoint");

}  // namespace distribute::train

namespace distribute::checkpoint_internal {

/// Returns the prefixes NAME-NUMBER of a directory that have an index file, by number.
std::vector<std::string> numbered_checkpoints(const std::string& directory,
                                              const std::string& name);

/// Returns "; " and a remedy if the state file beside this missing checkpoint names it; else "".
std::string cure_of_missing_checkpoint(const std::string& prefix);

}  // namespace distribute::checkpoint_internal

namespace distribute {

class Strategy;

namespace train {

/// Returns the directory into which this worker writes in place of `dirpath`: `dirpath` on the
/// chief, on other workers `<dirpath>/workertemp_<id>`, which it makes.
/// Source  tf_keras distributed_file_utils.write_dirpath
std::string write_dirpath(const std::string& dirpath, Strategy& strategy);
/// Returns the path of a worker's file: `<parent>/workertemp_<id>/<base>`.
std::string write_filepath(const std::string& filepath, Strategy& strategy);

/// Removes this worker's temporary directory below `dirpath`, with the files of an earlier, killed
/// run. A missing directory is no error; the chief has none.
void remove_temp_dirpath(const std::string& dirpath, Strategy& strategy);
void remove_temp_dir_with_filepath(const std::string& filepath, Strategy& strategy);

struct WorkerSaveOptions {  // options of WorkerSave
  /// Directory in which workers other than the chief write below `workertemp_<id>`; empty: beside
  /// the path.
  std::string worker_directory = {};
  /// Whether the path is the prefix of a checkpoint's files.
  bool is_checkpoint = false;
  /// The ending of a second file that belongs to the one at the path; empty if there is none.
  std::string second_file = {};
  /// Whether undoing removes the file at the path; unset: if there was none at the beginning.
  std::optional<bool> is_new = {};
};

/// A save that all workers make together, and that ends alike on all: committed or undone.
///
///     WorkerSave save(strategy, path);
///     save.run([&] { write(save.path()); });
///     save.commit();
///
/// Thread-compatible.
/// 1. The chief writes at the path, the others below `workertemp_<id>`, which they remove.
/// 2. After an error of one worker, and without commit(), the files are as before: the chief
///    removes what it has written, unless it replaced something older or the `checkpoint` file
///    names it.
/// 3. No worker is left waiting for another one.
class [[nodiscard]] WorkerSave {
 public:
  /// Begins a save; the chief removes the temporary directories of workers that the job no longer
  /// has.
  /// Blocks  until every worker has called it.
  WorkerSave(Strategy& strategy, const std::string& path, WorkerSaveOptions options = {});
  /// Makes a save of this process alone, which writes at the path.
  explicit WorkerSave(const std::string& path, WorkerSaveOptions options = {});
  /// Undoes a save that is not committed, and tells the other workers; a failure to do so is
  /// logged.
  ~WorkerSave();
  WorkerSave(const WorkerSave&) = delete;
  WorkerSave& operator=(const WorkerSave&) = delete;

  /// Returns the path at which this worker writes.
  const std::string& path() const;
  bool is_chief() const;
  /// Runs `part` here, which may take long; agree() or commit() throws its error, on all workers.
  /// After an error it does nothing. `part` must not use operations between workers.
  void run(const std::function<void()>& part);
  void run_on_chief(const std::function<void()>& part);
  /// Waits for the parts of all workers.
  /// Blocks  until what every worker has run so far is done.
  /// Throws  on every worker the error of the first that failed, with its rank in the message; the
  ///          save is then undone.
  void agree();
  /// Ends the save: calls agree() and keeps the files.
  void commit();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace train

namespace checkpoint_internal {

/// Runs `read` on every worker; the error of one that cannot find the file says where it should be.
/// Blocks  and throws as strategy_internal::on_all_workers.
void read_on_all_workers(Strategy& strategy, const std::function<void()>& read);

}  // namespace checkpoint_internal
}  // namespace distribute
