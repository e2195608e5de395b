#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <utility>

namespace distribute::log_internal {

/// Bytes of the UTF-8 character in front of `text`; 0 when there is none.
DISTRIBUTE_INLINE size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : uint8_t(0); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const uint8_t second = byte(1);  // not overlong, no surrogate, not beyond U+10FFFF
  const bool bad = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                   (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return bad ? 0 : length;
}

DISTRIBUTE_INLINE std::string json_string(std::string_view text) {
  std::string json = "\"";
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text.substr(i));
    const char c = text[i];
    if (length == 0) {
      json += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      json += {'\\', c};
    } else if (c == '\n') {
      json += "\\n";
    } else if (length == 1 && uint8_t(c) < 0x20) {
      constexpr const char* digits = "0123456789abcdef";
      json += std::string("\\u00") + digits[c >> 4] + digits[c & 15];
    } else {
      json += text.substr(i, length);
    }
    i += length == 0 ? 1 : length;
  }
  return json + '"';
}

DISTRIBUTE_INLINE std::string json_number(double value) {
  return std::isfinite(value) ? base_internal::exact_word(value) : "null";
}

/// "2026-11-22T02:30:00.123456Z"
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

/// With the state's mutex held.
DISTRIBUTE_INLINE void write_line(const LogOptions& options, const std::string& line) {
  if (options.sink)
    options.sink(line);
  else
    std::fwrite(line.data(), 1, line.size(), stderr);  // one call: stderr keeps nothing back
}

/// `text` is what people get.
DISTRIBUTE_INLINE void write(LogSeverity severity, std::string_view component,
                             std::string_view message, LogFields fields, const std::string& text) {
  ProcessState& process = process_state();
  process.metrics.log_lines.get_cell({level_name(severity)}).increment_by();
  const std::lock_guard lock(process.log.mutex);
  LogOptions& options = process.log.options;
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
  const std::lock_guard lock(process_state().log.mutex);
  return process_state().log.options;
}

DISTRIBUTE_INLINE void set_log_options(LogOptions options) {
  const std::lock_guard lock(process_state().log.mutex);
  process_state().log.options = std::move(options);
}

DISTRIBUTE_INLINE void set_log_task(const std::string& task) {
  const std::lock_guard lock(process_state().log.mutex);
  process_state().log.options.task = task;
}

DISTRIBUTE_INLINE void log(LogSeverity severity, std::string_view component,
                           std::string_view message, LogFields fields) {
  constexpr const char* prefixes[] = {"distribute: ", "warning: ", "error: ", "error: "};
  log_internal::write(severity, component, message, fields,
                      str_cat(prefixes[int(severity)], message, '\n'));
}

DISTRIBUTE_INLINE void log_report(LogSeverity severity, std::string_view component,
                                  std::string_view text, LogFields fields) {
  log_internal::write(severity, component, text, fields, std::string(text));
}

}  // namespace distribute
