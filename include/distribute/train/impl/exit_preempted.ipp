#pragma once
#include <distribute/base/exit_status.hpp>
#include <distribute/train/detail/exit_preempted.hpp>

#include <cstdio>
#include <cstdlib>

namespace distribute::train_internal {

[[noreturn]] DISTRIBUTE_INLINE void exit_preempted() {
  std::fflush(nullptr);
  std::quick_exit(kExitPreempted);
}

DISTRIBUTE_INLINE std::string text_of_leaving() {
  return "told to go (SIGTERM): this process ends without saving a checkpoint";
}

}  // namespace distribute::train_internal
