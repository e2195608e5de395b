#pragma once
#include <distribute/base/error.hpp>
#include <distribute/launch/detail/signal_watch.hpp>

#include <cerrno>
#include <cstring>

#include <sys/signalfd.h>

namespace distribute::launch {

DISTRIBUTE_INLINE SignalWatch::SignalWatch(std::vector<int> signals) {
  sigset_t watched;
  ::sigemptyset(&watched);
  for (const int number : signals) {
    struct sigaction current {};
    ::sigaction(number, nullptr, &current);
    if (current.sa_handler != SIG_IGN) ::sigaddset(&watched, number);
  }
  descriptor_ = Descriptor(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor_) throw UnavailableError(str_cat("cannot watch signals: ", std::strerror(errno)));
  ::pthread_sigmask(SIG_BLOCK, &watched, &before_);
}

DISTRIBUTE_INLINE SignalWatch::~SignalWatch() {
  // Signals not yet read are discarded, or they would end this process now.
  while (next()) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

DISTRIBUTE_INLINE int SignalWatch::next() const {
  signalfd_siginfo info{};
  return ::read(descriptor_.native(), &info, sizeof(info)) == sizeof(info) ? int(info.ssi_signo)
                                                                           : 0;
}

}  // namespace distribute::launch
