#pragma once
/// Writing to a pipe or connection whose reader has gone, without SIGPIPE.

#include <distribute/base/config.hpp>

#include <signal.h>

namespace distribute::base_internal {

/// While it lives, SIGPIPE does not reach this thread: the system call says EPIPE. For writes that
/// take no MSG_NOSIGNAL, such as those of OpenSSL inside of libcurl. One thread.
class PipeSignalBlock {
 public:
  PipeSignalBlock();
  /// Forgets a signal that has come meanwhile.
  ~PipeSignalBlock();
  PipeSignalBlock(const PipeSignalBlock&) = delete;

 private:
  sigset_t before_;
};

}  // namespace distribute::base_internal
