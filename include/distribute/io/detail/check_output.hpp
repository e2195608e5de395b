#pragma once
/// Whether a file can be written, before the work whose result it will hold.

#include <distribute/base/config.hpp>

#include <string>

namespace distribute::io {

/// Checks that a local file can be made or replaced, or a device or pipe written; `name` is what
/// errors call it, such as "--json". Paths on stores are not checked.
/// Throws  InvalidArgumentError for a directory; PermissionDeniedError when the file's directory is
///          missing or cannot be written. Both name the output and the path.
void check_output_file(const std::string& name, const std::string& path);

}  // namespace distribute::io
