#pragma once
/// A file that appears whole under its name or not at all.

#include <distribute/io/file_system.hpp>

namespace distribute::io {

/// The file is written as `<path>.tempstate<number>` beside its final place, synced and renamed.
/// The destructor removes it unless commit() succeeded. Of a link the target is replaced. Devices,
/// pipes, sockets and files on an object store are written in place and closed by commit(); an
/// object appears whole when it is closed. Thread-compatible; movable.
class AtomicFile {
 public:
  /// Makes missing parent directories.
  static absl::StatusOr<AtomicFile> create(const std::string& path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  /// After a failure every later call gives the same error again.
  absl::Status append(std::string_view bytes);
  /// Brings everything to the disk and closes the file; commit() then only renames. A group of
  /// files that belong together calls this on all of them first, so that a full disk hurts none.
  /// Of what is written in place it only says whether all writes so far succeeded.
  absl::Status prepare();
  /// prepare() where that has not happened, then makes the file appear.
  absl::Status commit();

 private:
  AtomicFile(FileSystem& fs, const std::string& path, const std::string& target);

  FileSystem* fs_;
  std::string path_;
  std::string temporary_;  // empty: there is none, or none any more
  bool in_place_;
  std::unique_ptr<WritableFile> file_;
  absl::Status status_;  // the first error
};

/// Replaces the contents of `path`; after a failure the old file is still there, whole.
absl::Status write_file_atomically(const std::string& path, std::string_view bytes);

}  // namespace distribute::io
