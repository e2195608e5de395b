#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace distribute {

namespace cluster_internal {

/// Returns when the process was started, in the kernel's ticks; "" if there is no process of that
/// number. A number alone may belong to another process by now.
DISTRIBUTE_INLINE std::string start_time_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  std::getline(file, text);
  size_t at = text.rfind(')');  // the program's name may hold blanks
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  if (at == std::string::npos) return "";
  return text.substr(at + 1, text.find(' ', at + 1) - at - 1);
}

/// Returns the contents of this process's file.
DISTRIBUTE_INLINE std::string text_of_this_process() {
  const std::string pid = std::to_string(::getpid());
  return str_cat(pid, ' ', start_time_of(pid), '\n');
}

/// Whether there is no file, or one that a task has written: two numbers in a regular file.
DISTRIBUTE_INLINE bool may_replace(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return errno == ENOENT;
  const auto text = S_ISREG(info.st_mode) && info.st_size < 64 ? io::read_file(path) : "";
  if (!text.ok()) return false;
  const auto is_of_number = [](char c) { return (c >= '0' && c <= '9') || c == ' ' || c == '\n'; };
  return std::all_of(text->begin(), text->end(), is_of_number) &&
         std::count(text->begin(), text->end(), ' ') == 1;
}

}  // namespace cluster_internal

/// Writes the file and renames it, so that a probe never reads half of it.
DISTRIBUTE_INLINE ReadyFile::ReadyFile(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  if (!cluster_internal::may_replace(path_))
    throw AlreadyExistsError(str_cat("DISTRIBUTE_READY_FILE=", untrusted::printable(path_),
                                     " is there already, and no task has made it: name another "
                                     "file, as this one would be removed at the end"));
  if (const std::string directory = io::directory_of(path_);
      !directory.empty() && !io::local_file_system().is_directory(directory).value_or(false))
    throw PermissionDeniedError(str_cat("DISTRIBUTE_READY_FILE=", untrusted::printable(path_),
                                        ": cannot write the file: there is no directory ",
                                        untrusted::printable(directory)));
  const auto written = io::write_file_atomically(path_, cluster_internal::text_of_this_process());
  if (!written.ok())
    throw PermissionDeniedError(
        str_cat("DISTRIBUTE_READY_FILE=", untrusted::printable(path_), ": ", written.message()));
}

DISTRIBUTE_INLINE ReadyFile::~ReadyFile() {
  if (path_.empty()) return;
  const auto text = io::read_file(path_);
  if (text.ok() && *text == cluster_internal::text_of_this_process()) ::unlink(path_.c_str());
}

DISTRIBUTE_INLINE std::string ready_file_path() {
  return Environment().text("DISTRIBUTE_READY_FILE");
}

DISTRIBUTE_INLINE std::string not_ready_because(const std::string& path) {
  if (path.empty())
    return "DISTRIBUTE_READY_FILE is not set: name a file there, for the trainer and for the probe";
  std::ifstream file(path);
  std::string pid, start_time;
  if (!(file >> pid >> start_time))
    return str_cat("there is no ", path, ": the task has not met the others yet, or has ended");
  if (cluster_internal::start_time_of(pid) == start_time) return "";
  return str_cat(path, " is of process ", pid, ", which has ended");
}

}  // namespace distribute
