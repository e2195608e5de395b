#pragma once
#include <distribute/base/detail/descriptors.hpp>
#include <distribute/base/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <dirent.h>
#include <sys/resource.h>

namespace distribute::base_internal {

inline constexpr const char* kMoreDescriptors =
    "allow more: ulimit -n 4096 before the program, LimitNOFILE= of a systemd unit, --ulimit "
    "nofile=4096 of docker";

DISTRIBUTE_INLINE rlimit descriptor_limit() {
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

/// Returns the number of open descriptors of this process; `otherwise` if none is left for
/// counting; 0 where there is no /proc to count in, as below a chroot.
DISTRIBUTE_INLINE int64_t open_descriptors(int64_t otherwise) {
  DIR* const folder = ::opendir("/proc/self/fd");
  if (!folder) return errno == EMFILE || errno == ENFILE ? otherwise : 0;
  int64_t count = -1;  // the folder's own
  while (const dirent* entry = ::readdir(folder))
    if (entry->d_name[0] != '.') ++count;
  ::closedir(folder);
  return count;
}

DISTRIBUTE_INLINE std::string system_error_text(int error) {
  const std::string text = std::strerror(error);
  if (error == ENFILE) return str_cat(text, ": the limit of the whole system, fs.file-max");
  if (error != EMFILE) return text;
  return str_cat(text, ": this process may have ", descriptor_limit().rlim_cur, " (ulimit -n); ",
                 kMoreDescriptors);
}

DISTRIBUTE_INLINE void prepare_descriptors(const std::string& who, int least, int wanted) {
  rlimit limit = descriptor_limit();
  if (limit.rlim_cur == RLIM_INFINITY) return;
  const int64_t used = open_descriptors(int64_t(limit.rlim_cur));
  if (used + wanted > int64_t(limit.rlim_cur) && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    limit = descriptor_limit();
  }
  if (used + least <= int64_t(limit.rlim_cur)) return;
  throw ResourceExhaustedError(
      str_cat(who, " needs ", least, " more open files at least, and ", used, " of the ",
              limit.rlim_cur, " that it may have (ulimit -n) are in use; ", kMoreDescriptors));
}

}  // namespace distribute::base_internal
