#pragma once
/// Directories of SavedModels that are numbered in the order in which they were written.

#include <distribute/base/config.hpp>

#include <string>
#include <vector>

namespace distribute::train {
class Model;
}

namespace distribute::train_internal {

/// Lists the names in `directory` that consist of digits, the oldest first; nothing if the
/// directory does not exist.
/// Throws  what files throw.
std::vector<std::string> saved_versions(const std::string& directory);

/// Gives DIRECTORY/<seconds since 1970>, or one more than the newest version; all workers get the
/// chief's path.
/// Blocks  until all workers have called it.
/// Throws  what files throw, on all workers.
std::string new_version_path(train::Model& model, const std::string& directory);

}  // namespace distribute::train_internal
