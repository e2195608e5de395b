#pragma once
/// Files that others read while they grow, such as event files, on stores that cannot append too.

#include <distribute/io/file_system.hpp>

namespace distribute::io {

/// Creates a file whose flush() shows its bytes to others. On a file system with atomic move this
/// is what create() gives; on an object store all bytes stay in memory, and every flush() and
/// close() after an append() writes the whole object anew, so call them rarely. A flush that fails
/// keeps the bytes: the next one tries again. There the destructor writes nothing.
absl::StatusOr<std::unique_ptr<WritableFile>> create_growing_file(const std::string& path);

}  // namespace distribute::io
