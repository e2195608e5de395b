#pragma once
/// What the log says while a test looks, line by line.

#include <distribute/base/logging.hpp>

#include <string>
#include <vector>

/// Takes the log's lines, as those of worker 2, until it is destroyed.
class CaughtLog {
 public:
  explicit CaughtLog(distribute::LogFormat format = distribute::LogFormat::Human,
                     distribute::LogSeverity least = distribute::LogSeverity::Info)
      : before_(distribute::log_options()) {
    distribute::set_log_options(
        {.format = format,
         .min_severity = least,
         .task = "worker 2",
         .sink = [this](const std::string& line) { lines.push_back(line); }});
  }
  ~CaughtLog() { distribute::set_log_options(before_); }
  CaughtLog(const CaughtLog&) = delete;
  CaughtLog& operator=(const CaughtLog&) = delete;

  std::vector<std::string> lines;

 private:
  distribute::LogOptions before_;
};
