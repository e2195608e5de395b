#pragma once
/// What the operating system knows about this process.

#include <distribute/base/config.hpp>

#include <cstdint>

namespace distribute {

/// Since this process was started, the loading of the program included; 0 where the system does not
/// tell.
double seconds_since_process_start();
/// Most memory that was resident at a time.
int64_t peak_rss_bytes();

}  // namespace distribute
