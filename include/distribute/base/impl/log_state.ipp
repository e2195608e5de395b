#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>

#include <optional>
#include <string_view>

namespace distribute::log_internal {

DISTRIBUTE_INLINE const char* level_name(LogSeverity severity) {
  constexpr const char* names[] = {"info", "warning", "error", "fatal"};
  return names[int(severity)];
}

/// Returns which of the words the variable is; notes the problem where it is none of them.
DISTRIBUTE_INLINE std::optional<int> choice(const char* name,
                                            std::initializer_list<std::string_view> words,
                                            LogOptions& options) {
  try {
    return Environment().choice(name, words);
  } catch (const Error& error) {
    options.problem += str_cat(options.problem.empty() ? "" : "; ", error.what());
    return std::nullopt;
  }
}

DISTRIBUTE_INLINE void read_level(const char* name, LogOptions& options) {
  if (const auto level =
          choice(name, {"info", "warning", "error", "fatal", "0", "1", "2", "3"}, options))
    options.min_severity = LogSeverity(*level % 4);
}

}  // namespace distribute::log_internal

namespace distribute {

DISTRIBUTE_INLINE LogOptions LogOptions::from_environment() {
  LogOptions options;
  if (log_internal::choice("DISTRIBUTE_LOG", {"human", "json"}, options) == 1)
    options.format = LogFormat::Json;
  log_internal::read_level("TF_CPP_MIN_LOG_LEVEL", options);
  log_internal::read_level("DISTRIBUTE_LOG_LEVEL", options);
  return options;
}

}  // namespace distribute
