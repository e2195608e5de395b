#pragma once
#include <distribute/base/detail/file_size_signal.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/ready_file.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include <unistd.h>

namespace distribute {

namespace cluster_internal {

/// When the process was started, in the kernel's ticks; "" when there is none of that number. A
/// number alone may belong to another process by now.
DISTRIBUTE_INLINE std::string start_time_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  std::getline(file, text);
  size_t at = text.rfind(')');  // the program's name may hold blanks
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  if (at == std::string::npos) return "";
  return text.substr(at + 1, text.find(' ', at + 1) - at - 1);
}

}  // namespace cluster_internal

/// A probe must not meet half a file: it appears by its new name.
DISTRIBUTE_INLINE ReadyFile::ReadyFile(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  const std::string pid = std::to_string(::getpid()), temporary = path_ + "." + pid;
  base_internal::ignore_file_size_signal();
  std::ofstream file(temporary, std::ios::trunc);
  file << pid << ' ' << cluster_internal::start_time_of(pid) << '\n' << std::flush;
  if (file && std::rename(temporary.c_str(), path_.c_str()) == 0) return;
  throw PermissionDeniedError(
      str_cat("DISTRIBUTE_READY_FILE=", path_, ": cannot write the file: ", std::strerror(errno)));
}

DISTRIBUTE_INLINE ReadyFile::~ReadyFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

DISTRIBUTE_INLINE std::string ready_file_path() {
  const char* path = std::getenv("DISTRIBUTE_READY_FILE");
  return path ? path : "";
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
