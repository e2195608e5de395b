#pragma once
/// Objects of the whole process, found by their type and made at the first use.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>

#include <cstdlib>
#include <string_view>

namespace distribute {

/// Whether the environment variable is "1" or "true"; `otherwise` when it is not set, or empty.
/// Throws  InvalidArgumentError for anything but these, "0" and "false".
inline bool env_switch(const char* name, bool otherwise = true) {
  const char* const value = std::getenv(name);
  const std::string_view word(value ? value : "");
  if (word.empty()) return otherwise;
  if (word == "1" || word == "true") return true;
  if (word == "0" || word == "false") return false;
  throw InvalidArgumentError(str_cat(name, "=", word.substr(0, 80), ": wanted 0 or 1"));
}

/// Returns the process's one T, which lives from its first use to the end of the process. Every
/// folder keeps such objects in its own types; no other object in a header is global. Making it is
/// thread-safe.
template <typename T>
T& in_process() {
  static T* const made = new T;
  return *made;
}

}  // namespace distribute
