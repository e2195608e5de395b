#pragma once
/// Directories of SavedModels that are numbered in the order they were written.

#include <distribute/base/config.hpp>

#include <string>
#include <vector>

namespace distribute::train {
class Model;
}

namespace distribute::train_internal {

/// The names of digits in `directory`, the oldest first; none where there is no such directory.
/// Throws  what files throw.
std::vector<std::string> saved_versions(const std::string& directory);

/// DIRECTORY/<seconds since 1970>, or one more than the newest version; the chief's on all workers.
/// Blocks  until all workers ask.
/// Throws  what files throw, on all workers.
std::string new_version_path(train::Model& model, const std::string& directory);

}  // namespace distribute::train_internal
