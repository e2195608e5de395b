#pragma once
/// The file that lists a directory's checkpoints, and where each worker writes.

#include <distribute/base/config.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::train {

/// What a `checkpoint` file says. Source  tensorflow/python/training/checkpoint_state.proto
struct CheckpointState {
  std::string model_checkpoint_path;                    // the latest
  std::vector<std::string> all_model_checkpoint_paths;  // oldest first
  std::vector<double> all_model_checkpoint_timestamps;  // seconds since 1970, or none
  std::optional<double> last_preserved_timestamp;
  /// What the file calls the latest, where get_checkpoint_state found it elsewhere; not written.
  std::string moved_from = {};
};

/// The text of the file, as TensorFlow writes it.
std::string encode_checkpoint_state(const CheckpointState& state);

/// Reads the text; `file` is for messages.
/// Throws  DataLossError with the line that cannot be understood, and where no path is given.
CheckpointState decode_checkpoint_state(std::string_view text, const std::string& file);

/// The state of a directory with all paths made absolute or relative to the current directory;
/// nothing where the file is missing. A checkpoint that is not where the file says, as after the
/// directory was moved or copied, is looked for beside the file under the same name. Unlike
/// TensorFlow, which logs a damaged file and starts afresh, this throws: a run that begins again at
/// step 0 would delete its own checkpoints. The error says what would help: which checkpoint lies
/// beside the file.
/// Source  tf.train.get_checkpoint_state
std::optional<CheckpointState> get_checkpoint_state(
    const std::string& checkpoint_dir, const std::string& latest_filename = "checkpoint");

/// Replaces the file as a whole. Paths inside the directory are written relative to it, so that
/// the directory can be moved.
/// Source  tf.compat.v1.train.update_checkpoint_state
void update_checkpoint_state(const std::string& checkpoint_dir, CheckpointState state,
                             const std::string& latest_filename = "checkpoint");

/// The prefix of the newest checkpoint in a directory, if its index file is there.
/// Source  tf.train.latest_checkpoint
std::optional<std::string> latest_checkpoint(const std::string& checkpoint_dir,
                                             const std::string& latest_filename = "checkpoint");

/// Why latest_checkpoint() finds none, and what would help: the directory, that the state file is
/// missing or what it names, and the newest checkpoint beside it.
std::string why_no_checkpoint(const std::string& checkpoint_dir,
                              const std::string& latest_filename = "checkpoint");

}  // namespace distribute::train

namespace distribute::checkpoint_internal {

/// The prefixes NAME-NUMBER of a directory that have an index file, by number.
std::vector<std::string> numbered_checkpoints(const std::string& directory,
                                              const std::string& name);

/// "; what to do" where the state file beside this checkpoint, which is missing, names it; else "".
std::string cure_of_missing_checkpoint(const std::string& prefix);

}  // namespace distribute::checkpoint_internal

namespace distribute {

class Strategy;

namespace train {

/// The directory this worker writes instead of `dirpath`: itself on the chief, on others
/// `<dirpath>/workertemp_<id>`, which is made.
/// Source  tf_keras distributed_file_utils.write_dirpath
std::string write_dirpath(const std::string& dirpath, Strategy& strategy);
/// Gives the same for a file: `<parent>/workertemp_<id>/<base>`.
std::string write_filepath(const std::string& filepath, Strategy& strategy);

/// Removes this worker's temporary directory below `dirpath`, with what an earlier, killed run left
/// in it; fine when it is not there, and nothing on the chief.
void remove_temp_dirpath(const std::string& dirpath, Strategy& strategy);
void remove_temp_dir_with_filepath(const std::string& filepath, Strategy& strategy);

struct WorkerSaveOptions {  // options of WorkerSave
  /// Workers other than the chief write below `workertemp_<id>` in here; empty: beside the path.
  std::string worker_directory = {};
  /// The path is the prefix of a checkpoint's files.
  bool is_checkpoint = false;
  /// The ending of another file that belongs to the one at the path; empty: there is none.
  std::string second_file = {};
  /// Whether undoing removes what is at the path; none: when nothing was there at the beginning.
  std::optional<bool> is_new = {};
};

/// One save, which all workers make together and which ends alike on all: with commit(), or undone.
///
///     WorkerSave save(strategy, path);
///     save.run([&] { write(save.path()); });
///     save.commit();
///
/// The chief writes at the path, the others below `workertemp_<id>`, which they remove. After an
/// error of one worker, and where commit() is not reached, nothing stays but what was there before:
/// the chief removes what it has written, unless it took the place of something older or the
/// `checkpoint` file names it; no other worker is left waiting. Thread-compatible.
class [[nodiscard]] WorkerSave {
 public:
  /// Begins; the chief removes the temporary directories of workers that the job does not have.
  /// Blocks  until every worker has called it.
  WorkerSave(Strategy& strategy, const std::string& path, WorkerSaveOptions options = {});
  /// Saves for this process alone, which writes at the path.
  explicit WorkerSave(const std::string& path, WorkerSaveOptions options = {});
  /// Undoes what is not committed, and tells the other workers; a failure to do so is logged.
  ~WorkerSave();
  WorkerSave(const WorkerSave&) = delete;
  WorkerSave& operator=(const WorkerSave&) = delete;

  /// Where this worker writes.
  const std::string& path() const;
  bool is_chief() const;
  /// Runs `part` here, which may take long; an error comes out of agree() or commit(), on all
  /// workers. Nothing happens after an error. `part` does nothing together with other workers.
  void run(const std::function<void()>& part);
  void run_on_chief(const std::function<void()>& part);
  /// Blocks  until what every worker has run so far is done.
  /// Throws  on every worker the error of the first that failed, with its rank in the message; then
  ///         all is undone.
  void agree();
  /// The end: agree(), and what was written stays.
  void commit();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace train

namespace checkpoint_internal {

/// Runs `read` on every worker; one that cannot find the file is told where it should be.
/// Blocks, throws  as strategy_internal::on_all_workers.
void read_on_all_workers(Strategy& strategy, const std::function<void()>& read);

}  // namespace checkpoint_internal
}  // namespace distribute
