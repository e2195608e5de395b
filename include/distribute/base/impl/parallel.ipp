#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>

#include <pthread.h>

namespace distribute::base_internal {

/// Whether this process is such a child; its one thread writes it before any other can start.
DISTRIBUTE_INLINE bool& is_fork_of_a_team() {
  static bool is_fork = false;
  return is_fork;
}

DISTRIBUTE_INLINE void check_no_fork() {
  static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { is_fork_of_a_team() = true; });
  (void)registered;
  if (is_fork_of_a_team())
    throw FailedPreconditionError(
        "this process was forked from one that had computed with several threads, which a fork "
        "does not copy: fork before the first operation, exec a program in the child, or let it "
        "compute with one thread (set_intra_op_threads(1))");
}

}  // namespace distribute::base_internal
