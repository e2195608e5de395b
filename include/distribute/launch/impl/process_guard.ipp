#pragma once
#include <distribute/base/detail/descriptors.hpp>
#include <distribute/base/error.hpp>
#include <distribute/launch/detail/process_guard.hpp>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace distribute::launch_internal {

inline constexpr int32_t kEndOfGuard = 0;

/// Only system calls here and below: other threads may have held locks at the time of the fork.
DISTRIBUTE_INLINE void close_all_but(int descriptor) {
  if (descriptor > 0) ::syscall(SYS_close_range, 0u, unsigned(descriptor - 1), 0u);
  ::syscall(SYS_close_range, unsigned(descriptor + 1), ~0u, 0u);
}

DISTRIBUTE_INLINE void ignore_signals() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  for (int number = 1; number < NSIG; ++number)
    if (number != SIGCHLD) ::sigaction(number, &ignore, nullptr);
}

/// The groups that live, in no order. No allocation.
struct GuardedGroups {
  static constexpr int kMost = 16384;
  int32_t groups[kMost];
  int count = 0;

  void note(int32_t group) {
    if (group > 0 && count < kMost) groups[count++] = group;
    for (int i = 0; group < 0 && i < count; ++i)
      if (groups[i] == -group) groups[i--] = groups[--count];
  }
  void kill_all() const {
    for (int i = 0; i < count; ++i) ::kill(-groups[i], SIGKILL);
  }
};

[[noreturn]] DISTRIBUTE_INLINE void guard_groups(int pipe, int ready) {
  ::setsid();
  ignore_signals();
  (void)!::write(ready, "", 1);
  close_all_but(pipe);
  ::prctl(PR_SET_NAME, "distribute guard");
  GuardedGroups guarded;
  for (;;) {
    int32_t group = kEndOfGuard;
    const ssize_t got = ::read(pipe, &group, sizeof(group));
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof(group) || group == kEndOfGuard) break;
    guarded.note(group);
  }
  guarded.kill_all();
  ::_exit(0);
}

}  // namespace distribute::launch_internal

namespace distribute::launch {

DISTRIBUTE_INLINE ProcessGuard::ProcessGuard() {
  int ends[2], ready[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw UnavailableError(
        str_cat("cannot make a pipe: ", base_internal::system_error_text(errno)));
  const Descriptor read_end(ends[0]);
  pipe_ = Descriptor(ends[1]);
  if (::pipe2(ready, O_CLOEXEC) != 0)
    throw UnavailableError(
        str_cat("cannot make a pipe: ", base_internal::system_error_text(errno)));
  const Descriptor is_ready(ready[0]);
  Descriptor says_ready(ready[1]);
  pid_ = ::fork();
  if (pid_ < 0) throw UnavailableError(str_cat("cannot make a process: ", std::strerror(errno)));
  if (pid_ == 0) launch_internal::guard_groups(ends[0], ready[1]);
  says_ready.close();
  // Until the guard has left this process's group, a signal to the group would end it too.
  char byte;
  while (::read(is_ready.native(), &byte, 1) < 0 && errno == EINTR) {
  }
}

DISTRIBUTE_INLINE void ProcessGuard::forget(pid_t group) const noexcept {
  const int32_t message = -int32_t(group);
  while (::write(pipe_.native(), &message, sizeof(message)) < 0 && errno == EINTR) {
  }
}

DISTRIBUTE_INLINE ProcessGuard::~ProcessGuard() {
  forget(-launch_internal::kEndOfGuard);
  pipe_.close();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace distribute::launch
