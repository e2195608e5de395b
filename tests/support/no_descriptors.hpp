#pragma once
/// Stands in for a limit of descriptors that is reached: while it lives, this process can open
/// none.

#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{256, before_.rlim_max};  // not fewer than are polled, which would be an error
    ::setrlimit(RLIMIT_NOFILE, &few);
    for (int one; (one = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken_.push_back(one);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  ~NoDescriptors() {
    for (const int one : taken_) ::close(one);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  rlimit before_{};
  std::vector<int> taken_;
};
