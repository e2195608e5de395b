#pragma once
/// Checkpoints on disk: their contents, and waiting for new ones.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/bundle_reader.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace distribute::train {

/// The prefix meant by a prefix, an .index file, or a directory, of which its newest checkpoint is
/// taken. Where the directory was moved, so that its state file names another place, that is
/// logged. Throws  NotFoundError that says what was looked for.
std::string find_checkpoint(const std::string& path);
/// The same, but of a directory all checkpoints that its state file names.
std::vector<std::string> find_checkpoints(const std::string& path);

/// Type and shape of a tensor in a file: "float32 [3,3,1,4]".
std::string type_text(const BundleEntry& entry);
/// The bytes of a tensor's elements; for strings, the bytes in the file.
int64_t num_bytes(const BundleEntry& entry);

/// A tensor that differs between two checkpoints, or is in one of them only, and how it differs.
struct TensorDifference {
  std::string name, reason;
};
/// What differs between two checkpoints, in the order of names; numbers by more than `tolerance`.
/// Throws  what BundleReader throws.
std::vector<TensorDifference> compare_checkpoints(BundleReader& a, BundleReader& b,
                                                  double tolerance = 0);

/// What a tensor is called in a file without an object graph.
enum class FlatNames { Variables, Paths };  // full names of variables; paths of objects

/// Writes the tensors of an object-based checkpoint under flat names, as Saver and load_weights()
/// read them. Returns their number.
/// Throws  InvalidArgumentError for a file without object graph, and for names that occur twice.
int write_flat_checkpoint(BundleReader& from, const std::string& to,
                          FlatNames names = FlatNames::Variables);

struct CheckpointsIteratorOptions {                // options of CheckpointsIterator
  double min_interval_secs = 0;                    // between two of them
  std::optional<double> timeout = {};              // seconds to wait for one; none: for ever
  std::function<bool()> timeout_fn = {};           // after them: true gives up; unset: gives up
  double seconds_to_sleep = 1;                     // between two looks at the directory
  std::function<double()> clock = {};              // in seconds; unset: the system's steady one
  std::function<void(double seconds)> sleep = {};  // unset: the thread sleeps
};

/// Gives the newest checkpoint of a directory again and again, each once; older ones that were
/// overtaken are left out. One thread.
/// Source  tf.train.checkpoints_iterator
class CheckpointsIterator {
 public:
  explicit CheckpointsIterator(std::string checkpoint_dir, CheckpointsIteratorOptions options = {});
  /// Blocks until there is another one; nothing when it gives up.
  /// Throws  DataLossError for a damaged `checkpoint` file.
  std::optional<std::string> next();
  /// The one given last could not be read: after a while it is given again, or a newer one.
  void retry();

 private:
  std::optional<std::string> wait();

  std::string directory_;
  CheckpointsIteratorOptions options_;
  std::optional<std::string> last_;
  std::optional<double> last_time_;
};

/// N of ".../ckpt-N"; nothing for other names.
std::optional<int64_t> checkpoint_number(const std::string& prefix);

/// What the loop does with each checkpoint.
struct FollowedCheckpoint {
  /// False where it could not be read: it is tried again, or a newer one. The trainer keeps only
  /// the last few.
  std::function<bool(const std::string& path)> restore;
  /// True when no further one is wanted.
  std::function<bool(const std::string& path)> evaluate;
};

/// Blocks until `evaluate` says that it was the last one, which gives true, or until no further one
/// has come in the time of `checkpoints`, which gives false.
/// Throws  what `checkpoints` and the two functions throw.
bool follow_checkpoints(CheckpointsIterator& checkpoints, const FollowedCheckpoint& each);

}  // namespace distribute::train
