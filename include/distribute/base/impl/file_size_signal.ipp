#pragma once
#include <distribute/base/detail/file_size_signal.hpp>

#include <signal.h>

namespace distribute::base_internal {

DISTRIBUTE_INLINE bool ignore_where_default(int signal) {
  struct sigaction action {};
  if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return false;
  action.sa_handler = SIG_IGN;
  return ::sigaction(signal, &action, nullptr) == 0;
}

DISTRIBUTE_INLINE void ignore_file_size_signal() {
  static const bool ignored = ignore_where_default(SIGXFSZ);
  (void)ignored;
}

}  // namespace distribute::base_internal
