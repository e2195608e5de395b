#pragma once
/// Logs a choice that is made in every step only once.

#include <distribute/base/config.hpp>
#include <distribute/base/logging.hpp>

#include <string_view>

namespace distribute::log_internal {

/// Calls log() unless the process has written a line with this component and topic before; later
/// texts, which may differ, are dropped. Thread-safe.
void log_once(LogSeverity severity, std::string_view component, std::string_view topic,
              std::string_view message);

}  // namespace distribute::log_internal
