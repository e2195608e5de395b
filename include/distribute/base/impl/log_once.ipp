#pragma once
#include <distribute/base/detail/log_once.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>

#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace distribute::log_internal {

struct LoggedTopics {
  std::mutex mutex;  // guards all
  std::set<std::pair<std::string, std::string>> all;
};

DISTRIBUTE_INLINE void log_once(LogSeverity severity, std::string_view component,
                                std::string_view topic, std::string_view message) {
  LoggedTopics& logged = in_process<LoggedTopics>();
  {
    const std::lock_guard lock(logged.mutex);
    if (!logged.all.emplace(component, topic).second) return;
  }
  log(severity, component, message);
}

}  // namespace distribute::log_internal
