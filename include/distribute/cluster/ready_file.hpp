#pragma once
/// A file that is there while a task takes part in its job: what readiness probes look at.

#include <distribute/base/config.hpp>

#include <string>

namespace distribute {

/// Made when a task has met the others (workers that step together), or has opened its port (tasks
/// of parameter servers, which meet when they need each other). Empty path: does nothing.
class ReadyFile {
 public:
  /// Writes the process's number and start time.
  /// Throws  AlreadyExistsError for a file that no task has made; PermissionDeniedError with path
  /// and
  ///         cause when the file cannot be written.
  explicit ReadyFile(std::string path);
  /// Removes the file, where it is still this task's.
  ~ReadyFile();
  ReadyFile(const ReadyFile&) = delete;
  ReadyFile& operator=(const ReadyFile&) = delete;

 private:
  std::string path_;
};

/// DISTRIBUTE_READY_FILE, or "".
std::string ready_file_path();

/// Why the task that writes `path` is not ready, in words; "" when it is: the file is there, and
/// the process that wrote it still runs.
std::string not_ready_because(const std::string& path);

}  // namespace distribute
