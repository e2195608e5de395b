#pragma once
#include <distribute/launch/detail/stray_processes.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace distribute::launch_internal {

/// Fields of /proc/PID/stat behind the name, which may contain anything.
struct ProcessStat {
  char state = 'X';
  pid_t parent = 0, group = 0, session = 0;
};

DISTRIBUTE_INLINE ProcessStat stat_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string line;
  std::getline(file, line);
  ProcessStat stat;
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return stat;
  std::istringstream fields(line.substr(name_end + 1));
  fields >> stat.state >> stat.parent >> stat.group >> stat.session;
  return stat;
}

DISTRIBUTE_INLINE std::vector<pid_t> own_children() {
  std::vector<pid_t> children;
  DIR* const all = ::opendir("/proc");
  if (!all) return children;
  while (const dirent* entry = ::readdir(all)) {
    const std::string name = entry->d_name;
    const bool number =
        std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (number && stat_of(name).parent == ::getpid()) children.push_back(pid_t(std::stol(name)));
  }
  ::closedir(all);
  return children;
}

/// Whether the process was left behind, and is not ending with its task's group at this moment.
DISTRIBUTE_INLINE bool was_left_behind(pid_t pid) {
  const ProcessStat stat = stat_of(std::to_string(pid));
  return stat.state != 'Z' && stat.state != 'X' && stat.session != ::getsid(0);
}

DISTRIBUTE_INLINE StrayProcesses::StrayProcesses() : known_(own_children()) {
  ::prctl(PR_GET_CHILD_SUBREAPER, &before_);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

DISTRIBUTE_INLINE StrayProcesses::~StrayProcesses() { ::prctl(PR_SET_CHILD_SUBREAPER, before_); }

/// The children of those that end come up in turn, until there are no more.
DISTRIBUTE_INLINE int StrayProcesses::end_all(const std::vector<pid_t>& own) const {
  int ended = 0;
  const auto is_in = [](const std::vector<pid_t>& list, pid_t pid) {
    return std::find(list.begin(), list.end(), pid) != list.end();
  };
  for (bool found = true; found;) {
    found = false;
    for (const pid_t pid : own_children()) {
      if (is_in(known_, pid) || is_in(own, pid)) continue;
      ended += was_left_behind(pid);
      ::kill(pid, SIGKILL);
      while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
      found = true;
    }
  }
  return ended;
}

}  // namespace distribute::launch_internal
