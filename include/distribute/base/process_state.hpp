#pragma once
/// What belongs to the whole process: objects by their type, made at the first use.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/library_metrics.hpp>
#include <distribute/base/logging.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace distribute {

/// False when the environment variable is "0", `otherwise` when it is not there.
inline bool env_switch(const char* name, bool otherwise = true) {
  const char* value = std::getenv(name);
  return value ? std::string_view(value) != "0" : otherwise;
}

/// The process's one T, which lives from its first use to the end of the process. Every folder
/// keeps what it owns in types of its own; nothing else in a header is global. Making it is
/// thread-safe.
template <typename T>
T& in_process() {
  static T* const made = new T;
  return *made;
}

/// What this folder owns.
struct ProcessState {
  std::atomic<int64_t> termination_signals{0};  // signals counted so far (base/termination_signal)
  monitoring::LibraryMetrics metrics;
  LogState log;
};
/// Made at its first use.
inline ProcessState& process_state() { return in_process<ProcessState>(); }

}  // namespace distribute
