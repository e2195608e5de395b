#pragma once
/// How one checkpoint is written.

#include <functional>
#include <string>
#include <vector>

namespace distribute::train {

/// Options of one save. Source  tf.train.CheckpointOptions
struct CheckpointOptions {
  /// Returns once the values are taken; a thread of low priority writes them while training goes
  /// on. Taking costs no copy: the next update copies what it changes, so memory holds the saved
  /// values a second time until they are written. Errors come from the next save, restore or
  /// sync(). Workers other than the chief write nothing then.
  bool enable_async = false;
  /// Called on the chief with the prefix when its files are complete, by the thread that wrote.
  std::vector<std::function<void(const std::string& prefix)>> experimental_write_callbacks = {};
};

}  // namespace distribute::train
