#pragma once
/// Google Cloud Storage as a file system: gs://bucket/object.

#include <distribute/io/file_system.hpp>
#include <distribute/object_stores/detail/gcs_client.hpp>

namespace distribute::io {

/// An object store: names with slashes stand for directories, which exist while they contain
/// something; make_dirs() does nothing. An open file belongs to one version of its object: reading
/// gives FailedPrecondition once the object is replaced. rename() copies and removes, object by
/// object.
/// Source  tensorflow::GcsFileSystem
class GcsFileSystem final : public FileSystem {
 public:
  explicit GcsFileSystem(GcsOptions options) : client_(std::move(options)) {}
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
  absl::Status sync_directory(const std::string&) override { return absl::OkStatus(); }
  bool has_atomic_move() const override { return false; }

 private:
  struct Stat {
    int64_t size = 0;
    std::string generation;
  };
  absl::Status copy(const GcsPath& from, const GcsPath& to);
  absl::StatusOr<Stat> stat(const GcsPath& path);
  /// Looks up an object. FailedPrecondition when the bucket itself is missing.
  absl::StatusOr<Stat> stat_in_bucket(const GcsPath& path);
  absl::StatusOr<int64_t> fetch(const GcsPath& path, const Stat& stat, int64_t offset,
                                std::span<char> out);

  GcsClient client_;
};

/// Makes the file system that file_system_for() gives for gs://.
/// Errors  as gcs_options_from_environment().
absl::StatusOr<std::unique_ptr<FileSystem>> gcs_file_system();

}  // namespace distribute::io
