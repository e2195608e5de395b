#pragma once
/// Makes a file that exceeds its limit (ulimit -f) an error instead of the end of the process.

#include <distribute/base/config.hpp>

namespace distribute::base_internal {

/// Ignores SIGXFSZ from its first call on, as CPython does, so that the system call returns EFBIG.
/// A handler that the program has set is kept. It is called before every file or shared memory is
/// made. Thread-safe.
void ignore_file_size_signal();

}  // namespace distribute::base_internal
