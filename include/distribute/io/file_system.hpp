#pragma once
/// Files by path, in the file system that the path names.

#include <distribute/base/config.hpp>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::io {

/// Joins paths: "a" + "b" -> "a/b". Returns an absolute `name`, or one with a scheme, as it is.
std::string join_path(std::string_view directory, std::string_view name);

/// Gives everything before the last slash: "a/b" -> "a", "/a" -> "/", "a" -> "". A root is its own
/// directory: "s3://bucket" -> "s3://bucket".
std::string directory_of(std::string_view path);

/// Gives everything after the last slash.
std::string file_name_of(std::string_view path);

/// Gives the scheme in front of "://", or "": "s3://bucket/key" -> "s3".
std::string_view scheme_of(std::string_view path);

/// Returns true for "/a" and for "s3://bucket".
bool is_absolute_path(std::string_view path);

/// A file that is written from front to back. Thread-compatible. Its destructor closes it and
/// ignores errors, so call close() where errors matter. On an object store (a file system without
/// atomic move) a file that was destroyed without close() never appears.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  /// Adds bytes at the end; they may stay in a buffer until flush().
  virtual absl::Status append(std::string_view bytes) = 0;
  /// Hands everything to the operating system, so that other processes see it. On an object store
  /// it shows nothing, as files there appear whole when close() succeeds.
  virtual absl::Status flush() = 0;
  /// Does what flush() does, and waits until the bytes would survive a power cut.
  virtual absl::Status sync() = 0;
  virtual absl::Status close() = 0;
};

/// A file that is read at any offset. Thread-safe.
class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;
  virtual const std::string& path() const = 0;
  /// Returns the number of bytes in the file when it was opened.
  virtual int64_t size() const = 0;
  /// Reads up to out.size() bytes and returns their number, which is smaller only at the end of the
  /// file.
  virtual absl::StatusOr<int64_t> read_some(int64_t offset, std::span<char> out) const = 0;
  /// Fills `out`.
  /// Returns  DataLoss when the file ends before.
  absl::Status read(int64_t offset, std::span<char> out) const;
};

/// A file system. Thread-safe. Errors name the path, the system's reason and, where it helps, the
/// cure:
/// NotFound, PermissionDenied, ResourceExhausted (disk full), AlreadyExists, ...
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual absl::StatusOr<std::unique_ptr<RandomAccessFile>> open(const std::string& path) = 0;
  /// Creates the file, or empties it when it exists.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> create(const std::string& path) = 0;
  virtual absl::StatusOr<bool> exists(const std::string& path) = 0;
  virtual absl::StatusOr<bool> is_directory(const std::string& path) = 0;
  virtual absl::StatusOr<int64_t> file_size(const std::string& path) = 0;
  /// Lists the names (not paths) in a directory, sorted, without "." and "..".
  virtual absl::StatusOr<std::vector<std::string>> list_directory(const std::string& path) = 0;
  /// Makes the directory and its parents; it is no error when they exist.
  virtual absl::Status make_dirs(const std::string& path) = 0;
  /// Renames a file and replaces `to` when it exists, atomically on a local disk. There a regular
  /// file takes the owner and the rights of the one that it replaces, as far as the system allows.
  virtual absl::Status rename(const std::string& from, const std::string& to) = 0;
  virtual absl::Status remove_file(const std::string& path) = 0;
  /// Removes an empty directory.
  virtual absl::Status remove_directory(const std::string& path) = 0;
  /// Makes renames in this directory survive a power cut.
  virtual absl::Status sync_directory(const std::string& path) = 0;
  /// Removes a directory and all files below it. Object stores remove them in batches.
  DISTRIBUTE_INLINE virtual absl::Status remove_tree(const std::string& path);
  /// Gives the regular file, existing or not, that a rename to `path` has to replace: the target
  /// when `path` is a link. The result is "" for a device, a pipe or a socket, which is written in
  /// place.
  /// Returns  FailedPrecondition for a directory.
  DISTRIBUTE_INLINE virtual absl::StatusOr<std::string> output_target(const std::string& path);
  /// False on object stores, where rename copies and deletes, and a file appears only when it is
  /// closed.
  /// Source  tensorflow::FileSystem::HasAtomicMove
  virtual bool has_atomic_move() const { return true; }
};

/// Gives the file system that the scheme of a path names; it lives as long as the program.
/// Thread-safe.
/// Returns  Unimplemented for a scheme that is not registered; the message names the header that
///          registers it.
absl::StatusOr<FileSystem*> file_system_for(std::string_view path);

/// A function that makes a file system at the first use of its scheme; it returns an error where
/// settings are wrong.
using FileSystemMaker = std::function<absl::StatusOr<std::unique_ptr<FileSystem>>()>;

/// Registers a file system for the paths of a scheme ("mystore" for mystore://...).
/// <distribute/object_stores.hpp> registers s3, gs, hdfs, webhdfs and swebhdfs. Thread-safe.
/// Returns  AlreadyExists when the scheme has a file system; InvalidArgument for an invalid scheme.
/// Source  tensorflow::Env::RegisterFileSystem
absl::Status register_file_system(const std::string& scheme, std::unique_ptr<FileSystem> fs);
absl::Status register_file_system_maker(const std::string& scheme, FileSystemMaker make);

/// Reads the whole file.
absl::StatusOr<std::string> read_file(const std::string& path);

/// Removes a file, or a directory with everything in it; it is no error when the path does not
/// exist.
absl::Status remove_recursively(const std::string& path);

/// The file system of the operating system. It keeps no state. It accepts plain paths and file://
/// ones, and never follows a link when it removes.
class LocalFileSystem final : public FileSystem {
 public:
  DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<RandomAccessFile>> open(
      const std::string& path) override;
  DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<WritableFile>> create(
      const std::string& path) override;
  DISTRIBUTE_INLINE absl::StatusOr<bool> exists(const std::string& path) override;
  DISTRIBUTE_INLINE absl::StatusOr<bool> is_directory(const std::string& path) override;
  DISTRIBUTE_INLINE absl::StatusOr<int64_t> file_size(const std::string& path) override;
  DISTRIBUTE_INLINE absl::StatusOr<std::vector<std::string>> list_directory(
      const std::string& path) override;
  DISTRIBUTE_INLINE absl::Status make_dirs(const std::string& path) override;
  DISTRIBUTE_INLINE absl::Status rename(const std::string& from, const std::string& to) override;
  DISTRIBUTE_INLINE absl::Status remove_file(const std::string& path) override;
  DISTRIBUTE_INLINE absl::Status remove_directory(const std::string& path) override;
  DISTRIBUTE_INLINE absl::Status sync_directory(const std::string& path) override;
  DISTRIBUTE_INLINE absl::StatusOr<std::string> output_target(const std::string& path) override;
};

/// Returns the local file system that file_system_for() gives.
FileSystem& local_file_system();

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
