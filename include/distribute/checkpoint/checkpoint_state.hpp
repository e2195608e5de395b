#pragma once
/// The small text file `checkpoint`, which says what checkpoints a directory holds.

#include <distribute/base/config.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::train {

/// A `checkpoint` file. Source  tensorflow/python/training/checkpoint_state.proto
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
