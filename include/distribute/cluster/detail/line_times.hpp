#pragma once
/// Times at which a long wait is logged.

#include <distribute/base/config.hpp>

#include <cmath>

namespace distribute::cluster_internal {

/// Returns the first time after `seconds` at which a line is due: 10, 30 and 60 s, then each
/// minute.
inline double next_line_after(double seconds) {
  if (seconds < 10) return 10;
  if (seconds < 30) return 30;
  return 60 * (std::floor(seconds / 60) + 1);
}

}  // namespace distribute::cluster_internal
