#pragma once
/// A child process with its pipes, which ends with its owner.

#include <distribute/base/config.hpp>
#include <distribute/launch/detail/descriptor.hpp>
#include <distribute/launch/detail/process_guard.hpp>
#include <distribute/net/deadline.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::launch {

/// How a process ended.
struct ExitStatus {
  int code = 0;    // its exit status
  int signal = 0;  // signal that ended it; 0 if it exited

  /// Returns whether the process has ended with status 0.
  bool ok() const { return code == 0 && signal == 0; }
  /// Returns the status as a shell shows it: 128 + signal for signals.
  int shell_status() const { return signal ? 128 + signal : code; }
  /// Returns "exited with status 3", "ended with signal 9 (Killed)".
  std::string describe() const;
};

struct ProcessOptions {                                 // options of Process
  std::vector<std::string> command = {};                // program, looked up in PATH, and arguments
  std::map<std::string, std::string> environment = {};  // added to this process's environment
  std::vector<std::string> unset = {};                  // names that are removed from it
  // first bytes of stdin, which then stays open; unset: stdin is /dev/null
  std::optional<std::string> input = {};
  bool channel = false;  // descriptor 3 of the child is a socket to channel()
  const ProcessGuard* guard = nullptr;
};

/// Owns a child that leads its own process group. Thread-compatible; any thread may call signal()
/// between the calls that reap.
/// 1. The child has default signal handling and no descriptors except 0, 1, 2 (and 3).
/// 2. The destructor kills the whole group.
class Process {
 public:
  /// Throws  NotFoundError, PermissionDeniedError that name the program; UnavailableError when the
  ///         system has no more processes; DeadlineExceededError when `input` is not read.
  explicit Process(const ProcessOptions& options);
  /// Kills the group and reaps the child.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Returns the system's number of the process.
  pid_t pid() const { return pid_; }
  /// Non-blocking read ends of the child's stdout and stderr.
  Descriptor& out() { return out_; }
  Descriptor& err() { return err_; }
  /// Returns the other end of the child's descriptor 3, which does not block.
  Descriptor& channel() { return channel_; }
  /// Returns a descriptor for ::poll: readable when the child has ended; -1 if the kernel has none.
  int exit_descriptor() const { return exit_.native(); }

  /// Writes to the child's stdin; a child that has gone is no error.
  /// Throws  DeadlineExceededError
  void write_input(std::string_view text, net::Deadline deadline);
  void close_input() { input_.close(); }
  /// Returns whether bytes of `input` or write_input() have not been read yet.
  bool has_unread_input() const;

  /// Sends a signal to the group; does nothing once the child is reaped.
  void signal(int number) const noexcept;
  /// Reaps the child if it has ended, and kills the rest of its group.
  const std::optional<ExitStatus>& poll();
  /// Blocks  until the child has ended.
  /// Throws  DeadlineExceededError
  ExitStatus wait(net::Deadline deadline);

 private:
  explicit Process(const ProcessGuard* guard) : guard_(guard) {}
  void start(const ProcessOptions& options);

  pid_t pid_ = -1;
  const ProcessGuard* guard_;
  Descriptor input_, out_, err_, channel_, exit_;
  std::optional<ExitStatus> status_;
};

/// Returns the file that a shell would run for `program`.
/// Throws  NotFoundError, PermissionDeniedError.
std::string find_program(const std::string& program);

/// Appends the bytes that can be read now, about a megabyte at most; returns false at the end of
/// the stream.
bool read_available(int descriptor, std::string& text);

}  // namespace distribute::launch
