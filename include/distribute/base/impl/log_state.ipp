#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/untrusted_text.hpp>

#include <cstdlib>
#include <string_view>

namespace distribute::log_internal {

DISTRIBUTE_INLINE const char* level_name(LogSeverity severity) {
  constexpr const char* names[] = {"info", "warning", "error", "fatal"};
  return names[int(severity)];
}

DISTRIBUTE_INLINE void read_level(const char* name, LogOptions& options) {
  const char* const text = std::getenv(name);
  if (!text || !*text) return;
  const std::string_view word(text);
  for (int level = 0; level < 4; ++level)
    if (word == level_name(LogSeverity(level)) || word == std::to_string(level)) {
      options.min_severity = LogSeverity(level);
      return;
    }
  options.problem += str_cat(options.problem.empty() ? "" : "; ", name, "=", untrusted::shown(word),
                             ": wanted info, warning, error, fatal, or 0 to 3");
}

}  // namespace distribute::log_internal

namespace distribute {

DISTRIBUTE_INLINE LogOptions LogOptions::from_environment() {
  LogOptions options;
  if (const char* format = std::getenv("DISTRIBUTE_LOG"); format && *format) {
    const std::string_view word(format);
    if (word == "json") options.format = LogFormat::Json;
    if (word != "json" && word != "human")
      options.problem =
          str_cat("DISTRIBUTE_LOG=", untrusted::shown(word), ": wanted human or json");
  }
  log_internal::read_level("TF_CPP_MIN_LOG_LEVEL", options);
  log_internal::read_level("DISTRIBUTE_LOG_LEVEL", options);
  return options;
}

}  // namespace distribute
