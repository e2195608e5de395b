#pragma once
/// Files that other processes read while they grow, such as event files, also on stores that cannot
/// append.

#include <distribute/io/file_system.hpp>

namespace distribute::io {

/// Creates a file whose flush() shows its bytes to other readers. On a file system with atomic move
/// this is the file that create() gives. On an object store all bytes stay in memory, and every
/// flush() and close() after an append() writes the whole object anew, so call them rarely. A flush
/// that fails keeps the bytes, and the next one tries again. On a store the destructor writes
/// nothing.
absl::StatusOr<std::unique_ptr<WritableFile>> create_growing_file(const std::string& path);

}  // namespace distribute::io
