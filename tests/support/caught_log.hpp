#pragma once
/// What the log says while a test looks, line by line.

#include <distribute/base/logging.hpp>

#include <mutex>
#include <string>
#include <vector>

/// Takes the log's lines, as those of worker 2, until it is destroyed.
class CaughtLog {
 public:
  explicit CaughtLog(distribute::LogFormat format = distribute::LogFormat::Human,
                     distribute::LogSeverity least = distribute::LogSeverity::Info)
      : before_(distribute::log_options()) {
    distribute::set_log_options({.format = format,
                                 .min_severity = least,
                                 .task = "worker 2",
                                 .sink = [this](const std::string& line) {
                                   const std::lock_guard lock(mutex_);
                                   lines.push_back(line);
                                 }});
  }
  ~CaughtLog() { distribute::set_log_options(before_); }
  CaughtLog(const CaughtLog&) = delete;
  CaughtLog& operator=(const CaughtLog&) = delete;

  /// Whether there is a line; other threads may log meanwhile.
  bool has_lines() const {
    const std::lock_guard lock(mutex_);
    return !lines.empty();
  }

  std::vector<std::string> lines;

 private:
  mutable std::mutex mutex_;
  distribute::LogOptions before_;
};
