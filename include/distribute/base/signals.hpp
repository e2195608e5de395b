#pragma once
/// Writes to a pipe or connection whose reader has gone, without SIGPIPE.

#include <distribute/base/config.hpp>

#include <signal.h>

namespace distribute::base_internal {

/// Blocks SIGPIPE for this thread while it lives: the system call returns EPIPE. It is for writes
/// without MSG_NOSIGNAL, such as those of OpenSSL inside of libcurl. One thread.
class PipeSignalBlock {
 public:
  PipeSignalBlock();
  /// Discards a signal that has come meanwhile.
  ~PipeSignalBlock();
  PipeSignalBlock(const PipeSignalBlock&) = delete;

 private:
  sigset_t before_;
};

}  // namespace distribute::base_internal
