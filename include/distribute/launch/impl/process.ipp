#pragma once
#include <distribute/base/detail/descriptors.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/launch/process.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace distribute::launch_internal {

using launch::Descriptor;

struct Pipe {
  Descriptor read, write;
};

DISTRIBUTE_INLINE Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw UnavailableError(
        str_cat("cannot make a pipe: ", base_internal::system_error_text(errno)));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

DISTRIBUTE_INLINE Pipe make_socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw UnavailableError(
        str_cat("cannot make a socket pair: ", base_internal::system_error_text(errno)));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Enlarges the pipe so that an input up to the system's limit (a mebibyte by default) is written
/// at once, whether or not the child reads it, as a blocked writer does not react to signals.
DISTRIBUTE_INLINE void make_room(const Pipe& pipe, size_t bytes) {
  constexpr size_t kUsual = size_t{1} << 16, kMost = size_t{1} << 20;
  if (bytes > kUsual) ::fcntl(pipe.write.native(), F_SETPIPE_SZ, int(std::min(2 * bytes, kMost)));
}

DISTRIBUTE_INLINE void make_non_blocking(const Descriptor& descriptor) {
  if (descriptor)
    ::fcntl(descriptor.native(), F_SETFL, ::fcntl(descriptor.native(), F_GETFL) | O_NONBLOCK);
}

/// Returns this process's NAME=value, changed as the options say.
DISTRIBUTE_INLINE std::vector<std::string> child_environment(
    const launch::ProcessOptions& options) {
  std::vector<std::string> result;
  for (char** entry = ::environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string name(text.substr(0, text.find('=')));
    const auto& unset = options.unset;
    if (!options.environment.count(name) &&
        std::find(unset.begin(), unset.end(), name) == unset.end())
      result.emplace_back(text);
  }
  for (const auto& [name, value] : options.environment) result.push_back(name + "=" + value);
  return result;
}

DISTRIBUTE_INLINE std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

/// Data that the child needs after the fork, prepared so that it only makes system calls.
struct ChildPlan {
  const char* file;
  char* const* arguments;
  char* const* environment;
  int standard[4];  // become descriptors 0 to 3; -1 leaves 3 out
  int guard, failure;
};

DISTRIBUTE_INLINE void reset_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Moves the four descriptors to 0..3, after moving them to numbers that do not collide.
DISTRIBUTE_INLINE bool place_descriptors(const ChildPlan& plan) {
  int above[4];
  for (int i = 0; i < 4; ++i) {
    above[i] = plan.standard[i] < 0 ? -1 : ::fcntl(plan.standard[i], F_DUPFD_CLOEXEC, 10);
    if (plan.standard[i] >= 0 && above[i] < 0) return false;
  }
  for (int i = 0; i < 4; ++i)
    if (above[i] >= 0 && ::dup2(above[i], i) < 0) return false;
  return true;
}

[[noreturn]] DISTRIBUTE_INLINE void become(const ChildPlan& plan) {
  ::setpgid(0, 0);
  const int32_t group = ::getpid();
  const bool guarded = plan.guard < 0 || ::write(plan.guard, &group, sizeof(group)) > 0;
  // Kept out of 0..3, and closed by a successful exec.
  const int failure = ::fcntl(plan.failure, F_DUPFD_CLOEXEC, 10);
  if (guarded && place_descriptors(plan)) {
    constexpr unsigned kCloseOnExec = 4;  // CLOSE_RANGE_CLOEXEC
    ::syscall(SYS_close_range, plan.standard[3] < 0 ? 3u : 4u, ~0u, kCloseOnExec);
    reset_signals();
    ::execve(plan.file, plan.arguments, plan.environment);
  }
  const int error = errno;
  (void)!::write(failure, &error, sizeof(error));
  ::_exit(127);
}

/// Blocks until the child has become the program; otherwise the error number.
DISTRIBUTE_INLINE int exec_error(const Descriptor& failure) {
  int error = 0;
  ssize_t got;
  while ((got = ::read(failure.native(), &error, sizeof(error))) < 0 && errno == EINTR) {
  }
  return got == sizeof(error) ? error : 0;
}

DISTRIBUTE_INLINE bool is_file(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

[[noreturn]] DISTRIBUTE_INLINE void throw_start_error(const std::string& program, int error) {
  const std::string message = str_cat("cannot run '", program, "': ", std::strerror(error));
  if (error == ENOENT) throw NotFoundError(message);
  if (error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE)
    throw UnavailableError(message);
  throw PermissionDeniedError(message);
}

/// Returns the interpreter in a script's first line if it does not exist; else "".
DISTRIBUTE_INLINE std::string missing_interpreter(const std::string& file) {
  char head[256] = "";  // as much as the system reads
  const Descriptor script(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = script.native() < 0 ? 0 : ::read(script.native(), head, sizeof head);
  std::string_view line(head, size_t(std::max<ssize_t>(got, 0)));
  if (!line.starts_with("#!")) return "";
  line = untrusted::trimmed(line.substr(2, line.find('\n') - 2));
  const std::string name(line.substr(0, line.find_first_of(" \t\r")));
  return ::access(name.c_str(), F_OK) == 0 ? "" : name;
}

}  // namespace distribute::launch_internal

namespace distribute::launch {

DISTRIBUTE_INLINE std::string ExitStatus::describe() const {
  if (!signal) return str_cat("exited with status ", code);
  return str_cat("ended with signal ", signal, " (", ::strsignal(signal), ")");
}

DISTRIBUTE_INLINE std::string find_program(const std::string& program) {
  using launch_internal::is_file;
  std::string found;
  if (program.find('/') != std::string::npos) {
    if (is_file(program)) found = program;
  } else if (!program.empty()) {
    const std::string folders = Environment()("PATH").value_or("/usr/bin:/bin") + ":";
    for (size_t at = 0, end; found.empty() && (end = folders.find(':', at)) != std::string::npos;
         at = end + 1) {
      const std::string file =
          (end == at ? std::string(".") : folders.substr(at, end - at)) + "/" + program;
      if (is_file(file) && ::access(file.c_str(), X_OK) == 0) found = file;
    }
  }
  if (found.empty()) throw NotFoundError("no program '" + program + "'");
  if (::access(found.c_str(), X_OK) != 0)
    throw PermissionDeniedError("'" + program + "' may not be executed");
  if (const std::string name = launch_internal::missing_interpreter(found); !name.empty())
    throw NotFoundError(str_cat("cannot run '", program, "': its first line names the interpreter ",
                                untrusted::shown(name), ", which is not there"));
  return found;
}

DISTRIBUTE_INLINE bool read_available(int descriptor, std::string& text) {
  char block[16384];
  // A writer that is faster than we are must not keep us here.
  constexpr size_t kMost = size_t{1} << 20;
  for (const size_t before = text.size(); text.size() - before < kMost;) {
    const ssize_t got = ::read(descriptor, block, sizeof(block));
    if (got > 0) text.append(block, size_t(got));
    if (got == 0) return false;
    if (got < 0 && errno != EINTR) return errno == EAGAIN;
  }
  return true;
}

// From here on the destructor cleans up after an exception.
DISTRIBUTE_INLINE Process::Process(const ProcessOptions& options) : Process(options.guard) {
  start(options);
  exit_ = Descriptor(int(::syscall(SYS_pidfd_open, pid_, 0)));
  for (const Descriptor* end : {&input_, &out_, &err_, &channel_})
    launch_internal::make_non_blocking(*end);
  if (options.input) write_input(*options.input, net::Deadline::after_seconds(60));
}

DISTRIBUTE_INLINE void Process::start(const ProcessOptions& options) {
  using namespace launch_internal;
  if (options.command.empty()) throw InvalidArgumentError("a process needs a program to run");
  const std::string file = find_program(options.command[0]);
  const std::vector<std::string> environment = child_environment(options);
  const std::vector<char*> arguments = pointers(options.command), entries = pointers(environment);
  Pipe in, out = make_pipe(), err = make_pipe(), failure = make_pipe(), channel;
  if (options.input) {
    in = make_pipe();
    make_room(in, options.input->size());
  }
  if (!options.input) in.read = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (options.channel) channel = make_socket_pair();
  const ChildPlan plan{
      file.c_str(),
      arguments.data(),
      entries.data(),
      {in.read.native(), out.write.native(), err.write.native(), channel.write.native()},
      guard_ ? guard_->native() : -1,
      failure.write.native()};
  pid_ = ::fork();
  if (pid_ == 0) become(plan);
  if (pid_ < 0) throw_start_error(options.command[0], errno);
  failure.write.close();
  if (const int error = exec_error(failure.read)) throw_start_error(options.command[0], error);
  input_ = std::move(in.write);
  out_ = std::move(out.read);
  err_ = std::move(err.read);
  channel_ = std::move(channel.read);
}

DISTRIBUTE_INLINE Process::~Process() {
  signal(SIGKILL);
  if (pid_ <= 0 || status_) return;
  // A killed process ends, so this wait needs no deadline.
  siginfo_t info{};
  while (::waitid(P_PID, id_t(pid_), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  poll();
}

DISTRIBUTE_INLINE void Process::write_input(std::string_view text, net::Deadline deadline) {
  const base_internal::PipeSignalBlock blocked;  // also where the reader has gone
  while (input_ && !text.empty()) {
    const ssize_t sent = ::write(input_.native(), text.data(), text.size());
    if (sent >= 0) {
      text.remove_prefix(size_t(sent));
    } else if (errno == EAGAIN && !deadline.passed()) {
      pollfd entry{input_.native(), POLLOUT, 0};
      ::poll(&entry, 1, deadline.left_ms());
    } else if (errno != EINTR) {
      break;
    }
  }
  const bool late = input_ && !text.empty() && errno == EAGAIN;
  if (late) throw DeadlineExceededError(str_cat("process ", pid_, " does not read its input"));
}

DISTRIBUTE_INLINE bool Process::has_unread_input() const {
  int bytes = 0;
  return input_ && ::ioctl(input_.native(), FIONREAD, &bytes) == 0 && bytes > 0;
}

DISTRIBUTE_INLINE void Process::signal(int number) const noexcept {
  if (pid_ > 0 && !status_) ::kill(-pid_, number);
}

DISTRIBUTE_INLINE const std::optional<ExitStatus>& Process::poll() {
  siginfo_t info{};
  if (status_ || ::waitid(P_PID, id_t(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != pid_)
    return status_;
  // The number of the group is ours until the child is reaped.
  ::kill(-pid_, SIGKILL);
  if (guard_) guard_->forget(pid_);
  int raw = 0;
  ::waitpid(pid_, &raw, 0);
  status_ = WIFSIGNALED(raw) ? ExitStatus{0, WTERMSIG(raw)} : ExitStatus{WEXITSTATUS(raw), 0};
  return status_;
}

DISTRIBUTE_INLINE ExitStatus Process::wait(net::Deadline deadline) {
  constexpr int kLookAgainMs = 20;  // where the kernel has no descriptor for a process
  while (!poll()) {
    if (deadline.passed())
      throw DeadlineExceededError(str_cat("process ", pid_, " has not ended in time"));
    pollfd entry{exit_.native(), POLLIN, 0};
    ::poll(&entry, 1, exit_ ? deadline.left_ms() : std::min(deadline.left_ms(), kLookAgainMs));
  }
  return *status_;
}

}  // namespace distribute::launch
