#pragma once
/// Objects of the whole process, found by their type and made at the first use.

#include <distribute/base/config.hpp>

namespace distribute {

/// Returns the process's one T, which lives from its first use to the end of the process. Every
/// folder keeps such objects in its own types; no other object in a header is global. Making it is
/// thread-safe.
template <typename T>
T& in_process() {
  static T* const made = new T;
  return *made;
}

}  // namespace distribute
