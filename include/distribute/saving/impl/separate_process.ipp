#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/saving/detail/separate_process.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace distribute::saving_internal {

/// The last bytes of a copy that has finished: its exit status is lost where SIGCHLD is ignored.
inline constexpr std::string_view kFinished = "finished";

/// No signal is handled while it lives.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

DISTRIBUTE_INLINE void write_whole(int pipe, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(pipe, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) ::_exit(1);
    bytes.remove_prefix(size_t(count));
  }
}

/// A crash leaves no core file and no text, and the copy ends with the process it belongs to.
DISTRIBUTE_INLINE void prepare_for_crashes() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::signal(signal, SIG_DFL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  const int null = ::open("/dev/null", O_WRONLY);
  if (null >= 0) ::dup2(null, STDERR_FILENO);
}

[[noreturn]] DISTRIBUTE_INLINE void run_in_copy(
    int pipe, const std::function<bool(const std::function<void(std::string_view)>&)>& work) {
  prepare_for_crashes();
  try {
    if (!work([&](std::string_view bytes) { write_whole(pipe, bytes); })) ::_exit(1);
    write_whole(pipe, kFinished);
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);
}

/// Returns false when nothing came for `patience`.
DISTRIBUTE_INLINE bool read_to_end(int pipe, std::chrono::seconds patience, std::string& bytes) {
  constexpr size_t kPiece = size_t{1} << 20;
  for (size_t size = 0;;) {
    pollfd ready{pipe, POLLIN, 0};
    const auto most = std::chrono::milliseconds(patience).count();
    const int polled = ::poll(&ready, 1, int(most));
    if (polled == 0) return false;
    if (polled < 0) continue;  // EINTR
    bytes.resize(size + kPiece);
    const ssize_t count = ::read(pipe, bytes.data() + size, kPiece);
    size += count > 0 ? size_t(count) : 0;
    bytes.resize(size);
    if (count == 0 || (count < 0 && errno != EINTR)) return true;
  }
}

DISTRIBUTE_INLINE std::optional<std::string> run_in_separate_process(
    const std::function<bool(const std::function<void(std::string_view)>&)>& work,
    std::chrono::seconds patience) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw ResourceExhaustedError(str_cat("cannot make a pipe: ", std::strerror(errno)));
  pid_t copy;
  {
    const BlockedSignals blocked;
    copy = ::fork();
    if (copy == 0) run_in_copy(ends[1], work);
  }
  const int error = errno;
  ::close(ends[1]);
  std::string bytes;
  const bool ended = copy > 0 && read_to_end(ends[0], patience, bytes);
  ::close(ends[0]);
  if (copy < 0)
    throw ResourceExhaustedError(str_cat("cannot make a process: ", std::strerror(error)));
  if (!ended) ::kill(copy, SIGKILL);
  while (::waitpid(copy, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!ended || !bytes.ends_with(kFinished)) return std::nullopt;
  bytes.resize(bytes.size() - kFinished.size());
  return bytes;
}

}  // namespace distribute::saving_internal
