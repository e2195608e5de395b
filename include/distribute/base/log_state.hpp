#pragma once
/// How the log is written; part of process_state().

#include <distribute/base/config.hpp>

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace distribute {

/// Numbered as in TF_CPP_MIN_LOG_LEVEL. Fatal: the program ends because of it; always written.
/// Source  absl::LogSeverity
enum class LogSeverity : uint8_t { Info, Warning, Error, Fatal };

enum class LogFormat : uint8_t { Human, Json };  // how lines of the log look

namespace log_internal {
/// "info", "warning", ...
const char* level_name(LogSeverity severity);
}  // namespace log_internal

struct LogOptions {                              // of the process
  LogFormat format = LogFormat::Human;           // DISTRIBUTE_LOG=json
  LogSeverity min_severity = LogSeverity::Info;  // DISTRIBUTE_LOG_LEVEL, else TF_CPP_MIN_LOG_LEVEL
  std::string task = {};                         // "worker 1"; the cluster's runtime sets it
  /// Gets whole lines, with their line feeds, one at a time; empty: stderr.
  std::function<void(const std::string& line)> sink = {};
  std::string problem = {};  // of the environment; printed with the first line

  /// What the variables say: DISTRIBUTE_LOG, DISTRIBUTE_LOG_LEVEL, TF_CPP_MIN_LOG_LEVEL.
  static LogOptions from_environment();
};

/// What process_state() holds.
struct LogState {
  std::mutex mutex;  // guards options, held while a line is written
  LogOptions options = LogOptions::from_environment();
};

}  // namespace distribute
