#pragma once
/// A file that appears whole under its name or not at all.

#include <distribute/io/file_system.hpp>

namespace distribute::io {

/// The file is written as `<path>.tempstate<number>` in the directory of its final place, synced
/// and renamed. The destructor removes it unless commit() succeeded. If `path` is a link, its
/// target is replaced. Devices, pipes, sockets and files on an object store are written in place
/// and closed by commit(); an object appears whole when it is closed. Thread-compatible; movable.
class AtomicFile {
 public:
  /// Opens the temporary file, and makes missing parent directories.
  static absl::StatusOr<AtomicFile> create(const std::string& path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  /// Adds bytes at the end. After a failure every later call returns the same error.
  absl::Status append(std::string_view bytes);
  /// Writes everything to the disk and closes the file, so that commit() only has to rename it. A
  /// group of files that belong together calls prepare() on all of them first, so that a full disk
  /// leaves none of them replaced. For a file that is written in place it only reports whether all
  /// writes so far succeeded.
  absl::Status prepare();
  /// Calls prepare() if that has not happened, then makes the file appear.
  absl::Status commit();

 private:
  AtomicFile(FileSystem& fs, const std::string& path, const std::string& target);

  FileSystem* fs_;
  std::string path_;
  std::string temporary_;  // empty when there is no temporary file
  bool in_place_;
  std::unique_ptr<WritableFile> file_;
  absl::Status status_;  // the first error
};

/// Replaces the contents of `path`. After a failure the old file is unchanged.
absl::Status write_file_atomically(const std::string& path, std::string_view bytes);

}  // namespace distribute::io
