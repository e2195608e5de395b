#pragma once
/// What belongs to the whole process: objects by their type, made at the first use.

#include <distribute/base/config.hpp>

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

}  // namespace distribute
