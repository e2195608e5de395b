#pragma once
/// A file that exists while a task takes part in its job, for readiness probes.

#include <distribute/base/config.hpp>

#include <string>

namespace distribute {

/// Creates the file when a task has met the others (workers that step together), or has opened its
/// port (tasks of parameter servers, which meet when they need each other). With an empty path it
/// does nothing.
class ReadyFile {
 public:
  /// Writes the process's number and start time.
  /// Throws  AlreadyExistsError for a file that no task has made; PermissionDeniedError with path
  ///          and cause when the file cannot be written.
  explicit ReadyFile(std::string path);
  /// Removes the file if it is still this task's.
  ~ReadyFile();
  ReadyFile(const ReadyFile&) = delete;
  ReadyFile& operator=(const ReadyFile&) = delete;

 private:
  std::string path_;
};

/// Returns DISTRIBUTE_READY_FILE, or "".
std::string ready_file_path();

/// Returns why the task that writes `path` is not ready; "" when it is: the file exists, and the
/// process that wrote it still runs.
std::string not_ready_because(const std::string& path);

}  // namespace distribute
