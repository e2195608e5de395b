#pragma once
/// Checkpoints on disk: reads their contents, and waits for new ones.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/bundle.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace distribute::train {

/// Returns the prefix for a prefix, an .index file, or a directory, whose newest checkpoint it
/// takes. If the directory was moved, so that its state file has another path, that is logged.
/// Throws  NotFoundError that names what was searched.
std::string find_checkpoint(const std::string& path);
/// Returns all checkpoints that a directory's state file names; for other paths as
/// find_checkpoint().
std::vector<std::string> find_checkpoints(const std::string& path);

/// Returns type and shape of a tensor in a file: "float32 [3,3,1,4]".
std::string type_text(const BundleEntry& entry);
/// Returns the bytes of a tensor's elements; for strings, the bytes in the file.
int64_t num_bytes(const BundleEntry& entry);

/// A tensor that differs between two checkpoints, or is in one of them only, and the difference.
struct TensorDifference {
  std::string name, reason;
};
/// Lists the differences of two checkpoints in the order of names; numbers may differ by
/// `tolerance`.
/// Throws  what BundleReader throws.
std::vector<TensorDifference> compare_checkpoints(BundleReader& a, BundleReader& b,
                                                  double tolerance = 0);

/// Names of tensors in a file without an object graph.
enum class FlatNames { Variables, Paths };  // full names of variables; paths of objects

/// Writes the tensors of an object-based checkpoint under flat names, as Saver and load_weights()
/// read them. Returns their number.
/// Throws  InvalidArgumentError for a file without object graph, and for names that occur twice.
int write_flat_checkpoint(BundleReader& from, const std::string& to,
                          FlatNames names = FlatNames::Variables);

struct CheckpointsIteratorOptions {    // options of CheckpointsIterator
  double min_interval_secs = 0;        // between two checkpoints
  std::optional<double> timeout = {};  // seconds to wait for one; unset: no limit
  // called after the timeout: true ends the waiting; unset: it ends
  std::function<bool()> timeout_fn = {};
  double seconds_to_sleep = 1;                     // between two looks at the directory
  std::function<double()> clock = {};              // in seconds; unset: the system's steady one
  std::function<void(double seconds)> sleep = {};  // unset: the thread sleeps
};

/// Returns each new checkpoint of a directory once; older ones that a newer one has replaced are
/// skipped. One thread.
/// Source  tf.train.checkpoints_iterator
class CheckpointsIterator {
 public:
  explicit CheckpointsIterator(std::string checkpoint_dir, CheckpointsIteratorOptions options = {});
  /// Blocks until there is another one; returns nullopt when it gives up.
  /// Throws  DataLossError for a damaged `checkpoint` file.
  std::optional<std::string> next();
  /// Tells that the last one could not be read: after a while it is returned again, or a newer one.
  void retry();

 private:
  std::optional<std::string> wait();

  std::string directory_;
  CheckpointsIteratorOptions options_;
  std::optional<std::string> last_;
  std::optional<double> last_time_;
};

/// Returns N of ".../ckpt-N"; nullopt for other names.
std::optional<int64_t> checkpoint_number(const std::string& prefix);

/// Functions that follow_checkpoints() calls for each checkpoint.
struct FollowedCheckpoint {
  /// Returns false if the checkpoint cannot be read: it is tried again, or a newer one, since the
  /// trainer keeps only the last few.
  std::function<bool(const std::string& path)> restore;
  /// Returns true when no further checkpoint is wanted.
  std::function<bool(const std::string& path)> evaluate;
};

/// Blocks until `evaluate` returns true, and then returns true, or until `checkpoints` gives up
/// waiting, and then returns false.
/// Throws  what `checkpoints` and the two functions throw.
bool follow_checkpoints(CheckpointsIterator& checkpoints, const FollowedCheckpoint& each);

}  // namespace distribute::train
