#pragma once
/// A file that passes the limit of its size (ulimit -f) is an error, not the end of the process.

#include <distribute/base/config.hpp>

namespace distribute::base_internal {

/// Ignores SIGXFSZ from its first call on, as CPython does, so that the system call says EFBIG. A
/// handler that the program has set stays. Called before every file or shared memory that is made.
/// Thread-safe.
void ignore_file_size_signal();

}  // namespace distribute::base_internal
