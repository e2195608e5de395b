#pragma once
/// A program that a test talks to while it runs, and questions about processes to /proc.

#include <distribute/launch/process.hpp>
#include <distribute/net/deadline.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/file_text.hpp>

#include <csignal>

#include <poll.h>

class RunningProgram {
 public:
  explicit RunningProgram(const distribute::launch::ProcessOptions& options) : process_(options) {}

  distribute::launch::Process& process() { return process_; }
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }

  /// Reads until `text` is in what the program has printed to stdout or stderr.
  void wait_for(const std::string& text, double seconds = 60) {
    const auto deadline = distribute::net::Deadline::after_seconds(seconds);
    const auto printed = [&] {
      return out_.find(text) != std::string::npos || err_.find(text) != std::string::npos;
    };
    while (read(), !printed()) {
      INFO("stdout:\n" << out_ << "stderr:\n" << err_);
      if (deadline.passed() || process_.poll()) FAIL("the program has not printed '" + text + "'");
      wait_for_output();
    }
  }

  /// Reads what has come; waits a little when nothing has.
  void read_for_a_while() {
    wait_for_output();
    read();
  }

  /// Reads until the program has ended; its status as a shell tells it.
  int wait(double seconds = 60) {
    const auto deadline = distribute::net::Deadline::after_seconds(seconds);
    while (!process_.poll()) {
      INFO("stdout:\n" << out_ << "stderr:\n" << err_);
      if (deadline.passed()) FAIL("the program has not ended");
      read();
      wait_for_output();
    }
    read();
    return process_.poll()->shell_status();
  }

 private:
  void read() {
    distribute::launch::read_available(process_.out().native(), out_);
    distribute::launch::read_available(process_.err().native(), err_);
  }
  void wait_for_output() {
    pollfd entries[] = {{process_.out().native(), POLLIN, 0},
                        {process_.exit_descriptor(), POLLIN, 0}};
    ::poll(entries, 2, 20);
  }

  distribute::launch::Process process_;
  std::string out_, err_;
};

/// Whether the process exists and is no zombie.
inline bool is_alive(pid_t pid) {
  const std::string text = file_text("/proc/" + std::to_string(pid) + "/stat");
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.at(name_end + 2) != 'Z' &&
         text.at(name_end + 2) != 'X';
}

/// Fails the test when one of the processes is there after the deadline.
inline void check_gone(const std::vector<pid_t>& pids, double seconds = 60) {
  const auto deadline = distribute::net::Deadline::after_seconds(seconds);
  for (const pid_t pid : pids) {
    while (is_alive(pid) && !deadline.passed())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    INFO("process " << pid);
    CHECK_FALSE(is_alive(pid));
  }
}

/// The numbers behind `word` in lines such as "[worker 0] pid 123".
inline std::vector<pid_t> numbers_behind(const std::string& word, const std::string& text) {
  std::vector<pid_t> numbers;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size())
    numbers.push_back(std::atoi(text.c_str() + at + word.size()));
  return numbers;
}

/// Command lines of all processes, one a line.
inline std::string all_command_lines() {
  std::string lines;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") == std::string::npos)
      lines += file_text("/proc/" + name + "/cmdline") + "\n";
  }
  return lines;
}
