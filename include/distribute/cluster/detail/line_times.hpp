#pragma once
/// When a wait says that it lasts.

#include <distribute/base/config.hpp>

#include <cmath>

namespace distribute::cluster_internal {

/// A line is due after 10, 30 and 60 s, then each minute: the first of these times after `seconds`.
inline double next_line_after(double seconds) {
  if (seconds < 10) return 10;
  if (seconds < 30) return 30;
  return 60 * (std::floor(seconds / 60) + 1);
}

}  // namespace distribute::cluster_internal
