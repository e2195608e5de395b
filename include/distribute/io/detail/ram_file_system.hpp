#pragma once
/// A file system in the memory of this process, for paths that begin with ram://.

#include <distribute/io/file_system.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace distribute::io_internal {

/// The files live as long as the process. A file exists from create() on. Folders need not be made:
/// a folder exists when a file lies below it. Thread-safe.
/// Source  tensorflow/core/platform/ram_file_system.h RamFileSystem
class RamFileSystem final : public io::FileSystem {
 public:
  DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<io::RandomAccessFile>> open(
      const std::string& path) override;
  DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<io::WritableFile>> create(
      const std::string& path) override;
  DISTRIBUTE_INLINE absl::StatusOr<bool> exists(const std::string& path) override;
  DISTRIBUTE_INLINE absl::StatusOr<bool> is_directory(const std::string& path) override;
  DISTRIBUTE_INLINE absl::StatusOr<int64_t> file_size(const std::string& path) override;
  DISTRIBUTE_INLINE absl::StatusOr<std::vector<std::string>> list_directory(
      const std::string& path) override;
  absl::Status make_dirs(const std::string&) override { return absl::OkStatus(); }
  DISTRIBUTE_INLINE absl::Status rename(const std::string& from, const std::string& to) override;
  DISTRIBUTE_INLINE absl::Status remove_file(const std::string& path) override;
  absl::Status remove_directory(const std::string&) override { return absl::OkStatus(); }
  absl::Status sync_directory(const std::string&) override { return absl::OkStatus(); }

  /// The bytes of one file. Thread-safe; an open file outlives its name.
  struct File {
    mutable std::mutex mutex;  // guards bytes
    std::string bytes;
  };

 private:
  using Files = std::map<std::string, std::shared_ptr<File>>;
  absl::StatusOr<std::shared_ptr<File>> find(const std::string& path) const;

  mutable std::mutex mutex_;  // guards files_
  Files files_;
};

}  // namespace distribute::io_internal
