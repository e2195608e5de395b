#pragma once
/// Zip archives in memory, by libzip: files of Keras and NumPy are such archives.

#include <distribute/base/config.hpp>

#include <string>
#include <utility>
#include <vector>

namespace distribute::saving {

/// Returns false in a build without libzip.
bool has_zip();

/// Returns the file `entry` of an archive; errors call the archive `name`.
/// Throws  DataLossError for bytes that are not an archive, or are damaged; NotFoundError for a
///          missing file; ResourceExhaustedError for one that grows more than thousandfold;
///          UnimplementedError in a build without libzip.
std::string read_zip_entry(const std::string& bytes, const std::string& entry,
                           const std::string& name);

/// Returns the names of all files in an archive, in its order.
/// Throws  as read_zip_entry().
std::vector<std::string> zip_entries(const std::string& bytes, const std::string& name);

/// Returns a zip archive, without compression, of files that are given as pairs of name and
/// contents.
std::string encode_zip(const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace distribute::saving
