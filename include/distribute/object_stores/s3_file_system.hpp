#pragma once
/// Objects of S3 and of servers that speak its protocol as files: s3://bucket/key.

#include <distribute/io/file_system.hpp>

#include <memory>
#include <mutex>

namespace distribute::io {

struct S3Options;
class S3Client;

/// Directories are prefixes of keys: making one does nothing, listing one that is not there gives
/// no names. A file appears whole when close() succeeds; before, and when it is destroyed without
/// close(), the old object stays. rename() copies and removes, object by object. A file that is
/// open for reading belongs to one version of its object: FailedPrecondition once it is replaced.
/// Thread-safe. Errors name the path, the URL, S3's code, the request id and the cure.
/// Source  tensorflow-io s3_filesystem
class S3FileSystem final : public FileSystem {
 public:
  /// Options from the environment (s3_options.hpp) at the first use.
  S3FileSystem();
  explicit S3FileSystem(const S3Options& options);
  DISTRIBUTE_INLINE ~S3FileSystem() override;

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
  DISTRIBUTE_INLINE absl::Status remove_tree(const std::string& path) override;
  bool has_atomic_move() const override { return false; }

 private:
  struct Place;  // a client and what it shall look at
  /// `path` is for messages.
  absl::StatusOr<std::shared_ptr<S3Client>> client(const std::string& path);
  absl::StatusOr<Place> at(const std::string& path);
  /// The same of what is no directory.
  absl::StatusOr<Place> file_at(const std::string& path);

  std::mutex mutex_;
  std::shared_ptr<S3Client> client_;  // guarded by mutex_; open files hold it too
};

/// The one that file_system_for hands out.
std::unique_ptr<FileSystem> s3_file_system();

}  // namespace distribute::io
