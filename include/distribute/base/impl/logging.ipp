#pragma once
#include <distribute/base/detail/file_size_signal.hpp>
#include <distribute/base/detail/safe_text.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/metrics.hpp>
#include <distribute/base/process_state.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <utility>

namespace distribute::log_internal {

/// Characters that a terminal would execute are escaped here, too, as people read these lines as
/// well.
DISTRIBUTE_INLINE std::string json_string(std::string_view text) {
  std::string json = "\"";
  while (!text.empty()) {
    const auto [length, code] = base_internal::first_character(text);
    const char c = text[0];
    if (length == 0) {
      json += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      json += {'\\', c};
    } else if (c == '\n') {
      json += "\\n";
    } else if (base_internal::is_unsafe(code) && code <= 0xFFFF) {
      char escape[16];
      std::snprintf(escape, sizeof escape, "\\u%04x", unsigned(code));
      json += escape;
    } else if (base_internal::is_unsafe(code)) {
      json += "\\ufffd";
    } else {
      json += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return json + '"';
}

DISTRIBUTE_INLINE std::string json_number(double value) {
  return std::isfinite(value) ? base_internal::exact_word(value) : "null";
}

/// Returns "2026-11-22T02:30:00.123456Z".
DISTRIBUTE_INLINE std::string utc_time() {
  using namespace std::chrono;
  const auto now = system_clock::now();
  const std::time_t seconds = system_clock::to_time_t(now);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  const auto micros = duration_cast<microseconds>(now.time_since_epoch()).count() % 1'000'000;
  char text[64];
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + size, sizeof text - size, ".%06dZ", int(micros));
  return text;
}

DISTRIBUTE_INLINE std::string json_line(LogSeverity severity, std::string_view task,
                                        std::string_view component, std::string_view message,
                                        LogFields fields) {
  std::string line =
      str_cat("{\"time\":\"", utc_time(), "\",\"level\":\"", level_name(severity),
              "\",\"task\":", json_string(task), ",\"component\":", json_string(component),
              ",\"message\":", json_string(message));
  const char* before = ",\"fields\":{";
  for (const LogField& field : fields) {
    line += before + json_string(field.key) + ':' + field.json;
    before = ",";
  }
  return line + (fields.size() ? "}}\n" : "}\n");
}

/// Writes a line; the state's mutex must be held.
DISTRIBUTE_INLINE void write_line(const LogOptions& options, const std::string& line) {
  if (options.sink) return options.sink(line);
  base_internal::ignore_file_size_signal();          // stderr may be a file
  std::fwrite(line.data(), 1, line.size(), stderr);  // one call: stderr keeps nothing back
}

/// The process's log.
struct LogState {
  std::mutex mutex;  // guards options, held while a line is written
  LogOptions options = LogOptions::from_environment();
};

/// Writes a message; `text` is the form for people.
DISTRIBUTE_INLINE void write(LogSeverity severity, std::string_view component,
                             std::string_view message, LogFields fields, const std::string& text) {
  monitoring::metrics().log_lines.get_cell({level_name(severity)}).increment_by();
  LogState& log = in_process<LogState>();
  const std::lock_guard lock(log.mutex);
  LogOptions& options = log.options;
  const auto line = [&](LogSeverity level, std::string_view from, std::string_view words,
                        const std::string& human) {
    write_line(options, options.format == LogFormat::Json
                            ? json_line(level, options.task, from, words, fields)
                            : human);
  };
  const std::string problem = std::exchange(options.problem, "");
  if (!problem.empty()) line(LogSeverity::Warning, "log", problem, "warning: " + problem + "\n");
  if (severity >= options.min_severity || severity == LogSeverity::Fatal)
    line(severity, component, message, text);
}

}  // namespace distribute::log_internal

namespace distribute {

DISTRIBUTE_INLINE LogOptions log_options() {
  auto& log = in_process<log_internal::LogState>();
  const std::lock_guard lock(log.mutex);
  return log.options;
}

DISTRIBUTE_INLINE void set_log_options(LogOptions options) {
  auto& log = in_process<log_internal::LogState>();
  const std::lock_guard lock(log.mutex);
  log.options = std::move(options);
}

DISTRIBUTE_INLINE void set_log_task(const std::string& task) {
  auto& log = in_process<log_internal::LogState>();
  const std::lock_guard lock(log.mutex);
  log.options.task = task;
}

DISTRIBUTE_INLINE void log(LogSeverity severity, std::string_view component,
                           std::string_view message, LogFields fields) {
  constexpr const char* prefixes[] = {"distribute: ", "warning: ", "error: ", "error: "};
  log_internal::write(severity, component, message, fields,
                      str_cat(prefixes[int(severity)], base_internal::safe_lines(message), '\n'));
}

DISTRIBUTE_INLINE void log_report(LogSeverity severity, std::string_view component,
                                  std::string_view text, LogFields fields) {
  log_internal::write(severity, component, text, fields, base_internal::safe_lines(text));
}

}  // namespace distribute
