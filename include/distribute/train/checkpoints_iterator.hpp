#pragma once
/// Waits for the checkpoints that another process writes.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace distribute::train {

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

}  // namespace distribute::train
