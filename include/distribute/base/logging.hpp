#pragma once
/// The log: lines with a severity, on stderr or through a sink.

#include <distribute/base/config.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace distribute {

/// Numbered as in TF_CPP_MIN_LOG_LEVEL. Fatal lines, after which the program ends, are always
/// written.
/// Source  absl::LogSeverity
enum class LogSeverity : uint8_t { Info, Warning, Error, Fatal };

enum class LogFormat : uint8_t { Human, Json };  // form of the log's lines

namespace log_internal {
/// "info", "warning", ...
const char* level_name(LogSeverity severity);
}  // namespace log_internal

struct LogOptions {                              // options of the process's log
  LogFormat format = LogFormat::Human;           // DISTRIBUTE_LOG=json
  LogSeverity min_severity = LogSeverity::Info;  // DISTRIBUTE_LOG_LEVEL, else TF_CPP_MIN_LOG_LEVEL
  std::string task = {};                         // "worker 1"; the cluster's runtime sets it
  /// Receives whole lines, with their line feeds, one at a time; empty: stderr.
  std::function<void(const std::string& line)> sink = {};
  std::string problem = {};  // error in the environment; printed with the first line

  /// Reads the variables DISTRIBUTE_LOG, DISTRIBUTE_LOG_LEVEL, TF_CPP_MIN_LOG_LEVEL.
  static LogOptions from_environment();
};

namespace log_internal {
/// Returns `text` as a JSON string, with its quotes; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);
std::string json_number(double value);
}  // namespace log_internal

/// A name and a value beside the message, for programs that read the log: {"step", 100}.
struct LogField {
  LogField(std::string_view name, std::string_view text)
      : key(name), json(log_internal::json_string(text)) {}
  LogField(std::string_view name, const char* text) : LogField(name, std::string_view(text)) {}
  LogField(std::string_view name, bool value) : key(name), json(value ? "true" : "false") {}
  LogField(std::string_view name, std::integral auto value)
      : key(name), json(std::to_string(value)) {}
  LogField(std::string_view name, double value)
      : key(name), json(log_internal::json_number(value)) {}

  std::string_view key;
  std::string json;
};
using LogFields = std::initializer_list<LogField>;

LogOptions log_options();                  // the options of the process
void set_log_options(LogOptions options);  // for the whole process
/// Sets the name of this task, such as "worker 1", which every JSON line contains.
void set_log_task(const std::string& task);

/// Writes "warning: <message>" ("distribute: " for Info, "error: " for Error and Fatal), or an
/// object with time (RFC 3339, UTC), level, task, component, message and, if there are any, fields.
/// `component` is the folder or program that logs. Thread-safe; lines do not mix.
void log(LogSeverity severity, std::string_view component, std::string_view message,
         LogFields fields = {});
/// Logs a text of several lines, such as a report: unchanged for people, as one object in JSON.
void log_report(LogSeverity severity, std::string_view component, std::string_view text,
                LogFields fields = {});

namespace log_internal {
/// Returns the JSON object of one line, with its line feed.
std::string json_line(LogSeverity severity, std::string_view task, std::string_view component,
                      std::string_view message, LogFields fields);
}  // namespace log_internal
/// The following functions log one line of their level.
inline void log_info(std::string_view component, std::string_view message, LogFields fields = {}) {
  log(LogSeverity::Info, component, message, fields);
}
inline void log_warning(std::string_view component, std::string_view message,
                        LogFields fields = {}) {
  log(LogSeverity::Warning, component, message, fields);
}
inline void log_error(std::string_view component, std::string_view message, LogFields fields = {}) {
  log(LogSeverity::Error, component, message, fields);
}

}  // namespace distribute
