#pragma once
/// Files by path, in whichever file system the path names.

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

/// "a" + "b" -> "a/b"; an absolute `name` (or one with a scheme) stands alone.
std::string join_path(std::string_view directory, std::string_view name);

/// Everything before the last slash: "a/b" -> "a", "/a" -> "/", "a" -> ""; a root stands for
/// itself: "s3://bucket" -> "s3://bucket".
std::string directory_of(std::string_view path);

/// Everything after the last slash.
std::string file_name_of(std::string_view path);

/// The scheme in front of "://", or nothing: "s3://bucket/key" -> "s3".
std::string_view scheme_of(std::string_view path);

/// True for "/a" and for "s3://bucket".
bool is_absolute_path(std::string_view path);

/// A file being written from front to back. Thread-compatible. Its destructor closes it and
/// ignores errors, so call close() where they matter; on an object store (a file system without
/// atomic move) nothing ever appears of a file that was destroyed without close().
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  /// Adds bytes at the end; they may stay in a buffer until flush().
  virtual absl::Status append(std::string_view bytes) = 0;
  /// Hands everything to the operating system: other processes see it. Shows nothing on an object
  /// store, whose files appear whole when close() succeeds.
  virtual absl::Status flush() = 0;
  /// As flush(), and waits until it would survive a power cut.
  virtual absl::Status sync() = 0;
  virtual absl::Status close() = 0;
};

/// A file being read at any offset. Thread-safe.
class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;
  virtual const std::string& path() const = 0;
  /// Bytes in the file when it was opened.
  virtual int64_t size() const = 0;
  /// Reads up to out.size() bytes and returns their number; fewer only at the end of the file.
  virtual absl::StatusOr<int64_t> read_some(int64_t offset, std::span<char> out) const = 0;
  /// Fills `out`; a file that ends before is DataLoss.
  absl::Status read(int64_t offset, std::span<char> out) const;
};

/// Thread-safe. Errors name the path, the system's reason, and where it helps the cure:
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
  /// Names (not paths) in a directory, sorted, without "." and "..".
  virtual absl::StatusOr<std::vector<std::string>> list_directory(const std::string& path) = 0;
  /// Makes the directory and its parents; fine when it is there already.
  virtual absl::Status make_dirs(const std::string& path) = 0;
  /// Replaces `to` when it exists, atomically on a local disk.
  virtual absl::Status rename(const std::string& from, const std::string& to) = 0;
  virtual absl::Status remove_file(const std::string& path) = 0;
  /// Removes an empty directory.
  virtual absl::Status remove_directory(const std::string& path) = 0;
  /// Makes renames in this directory survive a power cut.
  virtual absl::Status sync_directory(const std::string& path) = 0;
  /// Removes all files below a directory, and the directory. Object stores do it in batches.
  DISTRIBUTE_INLINE virtual absl::Status remove_tree(const std::string& path);
  /// The regular file, there or not, that a rename to `path` is to replace: what a link leads to.
  /// "" for a device, a pipe or a socket, which is written in place. FailedPrecondition for a
  /// directory.
  DISTRIBUTE_INLINE virtual absl::StatusOr<std::string> output_target(const std::string& path);
  /// False on object stores: rename copies and deletes there, and a file appears by close() alone.
  /// Source  tensorflow::FileSystem::HasAtomicMove
  virtual bool has_atomic_move() const { return true; }
};

/// The file system a path belongs to, by its scheme; lives as long as the program. Thread-safe.
/// Unimplemented for a scheme that is not registered; the message names the header that does it.
absl::StatusOr<FileSystem*> file_system_for(std::string_view path);

/// Makes a file system at the first use of its scheme; an error where its settings are wrong.
using FileSystemMaker = std::function<absl::StatusOr<std::unique_ptr<FileSystem>>()>;

/// Makes paths of a scheme ("mystore" for mystore://...) the file system's.
/// <distribute/object_stores.hpp> registers s3, gs, hdfs, webhdfs and swebhdfs. Thread-safe.
/// AlreadyExists when the scheme has one; InvalidArgument for an invalid scheme.
/// Source  tensorflow::Env::RegisterFileSystem
absl::Status register_file_system(const std::string& scheme, std::unique_ptr<FileSystem> fs);
absl::Status register_file_system_maker(const std::string& scheme, FileSystemMaker make);

/// The whole file as bytes.
absl::StatusOr<std::string> read_file(const std::string& path);

/// Removes a file, or a directory with everything in it; fine when it is not there.
absl::Status remove_recursively(const std::string& path);

/// Stateless. Accepts plain paths and file:// ones. Never follows a link when it removes.
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

/// The one that file_system_for hands out.
FileSystem& local_file_system();

}  // namespace distribute::io
