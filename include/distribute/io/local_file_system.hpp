#pragma once
/// The local disk through POSIX calls.

#include <distribute/io/file_system.hpp>

namespace distribute::io {

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
};

/// The one that file_system_for hands out.
FileSystem& local_file_system();

}  // namespace distribute::io
