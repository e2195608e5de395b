#pragma once
/// Reads the files of a tar archive in order.

#include <distribute/base/config.hpp>
#include <distribute/io/compression.hpp>

#include <memory>
#include <string>

namespace distribute::data::data_internal {

/// One archive that is read from front to back. One thread at a time.
class ArchiveReader {
 public:
  virtual ~ArchiveReader() = default;
  /// Gives the name of the next file; false at the end. Folders and links are passed over.
  /// Throws  DataLossError for what is no archive, or a cut one; what reading throws.
  virtual bool next(std::string& name) = 0;
  /// Gives the contents of that file.
  virtual std::string contents() = 0;
};

/// Whether this build has libarchive.
bool has_libarchive();

/// Opens a tar archive, which may be compressed.
std::unique_ptr<ArchiveReader> open_archive(const std::string& path);

}  // namespace distribute::data::data_internal
