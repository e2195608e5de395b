#pragma once
/// The time in seconds.

#include <chrono>

namespace distribute::base_internal {

/// Returns the seconds of a clock that only goes forward; its beginning means nothing.
inline double steady_seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// Returns the seconds since 1970.
inline double unix_seconds() {
  using namespace std::chrono;
  return duration<double>(system_clock::now().time_since_epoch()).count();
}

}  // namespace distribute::base_internal
