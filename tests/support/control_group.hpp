#pragma once
/// A real control group for one test, where this user may make one.

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <sys/wait.h>
#include <unistd.h>

class ControlGroup {
 public:
  /// `controller` such as "cpu"; `first` and `second` are the files of its limit in version 1
  /// and 2.
  ControlGroup(const std::string& controller, const std::string& first, const std::string& second) {
    const std::string root = "/sys/fs/cgroup";
    const bool is_first = std::filesystem::exists(root + "/" + controller + "/cgroup.procs");
    const std::string group = "/distribute_test_" + std::to_string(::getpid());
    folder_ = is_first ? root + "/" + controller + group : root + group;
    std::error_code error;
    if (!std::filesystem::create_directory(folder_, error)) {
      why_not_ = "this user may not make control groups: " + error.message();
      return;
    }
    file_ = folder_ + "/" + (is_first ? first : second);
    if (!std::filesystem::exists(file_)) why_not_ = "there is no " + file_;
  }
  ~ControlGroup() {
    std::error_code ignored;
    std::filesystem::remove(folder_, ignored);
  }
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;

  /// Empty where it can be used.
  const std::string& why_not() const { return why_not_; }
  void limit(const std::string& value) const { std::ofstream(file_) << value; }
  /// For a child before it becomes another program.
  void enter() const { take(::getpid()); }
  /// All threads of a process that runs already.
  void take(pid_t process) const { std::ofstream(folder_ + "/cgroup.procs") << process; }

  /// The wait status of a child that runs `body` in the group and exits with its result.
  template <typename Body>
  int run(const Body& body) const {
    const pid_t child = ::fork();
    if (child == 0) {
      enter();
      ::_exit(body());
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
  }

 private:
  std::string folder_, file_, why_not_;
};
