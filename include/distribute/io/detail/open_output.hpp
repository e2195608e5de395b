#pragma once
/// How outputs are opened whose name may be a pipe's.

#include <distribute/base/config.hpp>

#include <cstdio>
#include <string>

namespace distribute::io_internal {

/// Opens a file, a device or a pipe as ::open() does with `flags`, and returns the descriptor or -1
/// with errno. A line is logged when it has to wait for a pipe's reader.
int open_output(const std::string& path, int flags);

/// Opens an output as open_output() does, to write at its end; null with errno when that fails.
std::FILE* append_to(const std::string& path);

}  // namespace distribute::io_internal
