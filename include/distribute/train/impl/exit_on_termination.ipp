#pragma once
#include <distribute/base/exit_status.hpp>
#include <distribute/train/exit_on_termination.hpp>

#include <signal.h>
#include <unistd.h>

namespace distribute::train {

struct ExitOnTermination::Before {
  struct sigaction action {};
};

DISTRIBUTE_INLINE ExitOnTermination::ExitOnTermination() : before_(std::make_unique<Before>()) {
  struct sigaction exiting {};
  exiting.sa_handler = [](int) { ::_exit(kExitPreempted); };
  ::sigemptyset(&exiting.sa_mask);
  ::sigaction(SIGTERM, &exiting, &before_->action);
  if (before_->action.sa_handler == SIG_IGN) ::sigaction(SIGTERM, &before_->action, nullptr);
}

DISTRIBUTE_INLINE ExitOnTermination::~ExitOnTermination() {
  ::sigaction(SIGTERM, &before_->action, nullptr);
}

}  // namespace distribute::train
