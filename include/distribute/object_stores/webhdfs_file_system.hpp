#pragma once
/// Hadoop's distributed file system as a file system: hdfs://, webhdfs:// and swebhdfs://.

#include <distribute/io/file_system.hpp>
#include <distribute/object_stores/detail/webhdfs_client.hpp>

namespace distribute::io {

/// A file system with directories, appending and atomic renames that is reached by HTTP. Bytes are
/// sent in pieces: the first creates the file, the others are appended.
/// Source  tensorflow_io's HadoopFileSystem (through libhdfs there)
class WebHdfsFileSystem final : public FileSystem {
 public:
  explicit WebHdfsFileSystem(WebHdfsOptions options) : client_(std::move(options)) {}
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
  /// Renames a file. HttpFS servers cannot replace a file atomically, so the old file is removed
  /// first there.
  DISTRIBUTE_INLINE absl::Status rename(const std::string& from, const std::string& to) override;
  DISTRIBUTE_INLINE absl::Status remove_file(const std::string& path) override;
  DISTRIBUTE_INLINE absl::Status remove_directory(const std::string& path) override;
  absl::Status sync_directory(const std::string&) override { return absl::OkStatus(); }

 private:
  struct Stat {
    int64_t size = 0;
    bool is_directory = false;
  };
  absl::StatusOr<Stat> stat(const std::string& path);
  /// Gives the "boolean" of the answer.
  absl::StatusOr<bool> ask(const std::string& path, const WebHdfsCall& call);

  WebHdfsClient client_;
};

/// Makes the file system that file_system_for() gives for these schemes.
/// Errors  as webhdfs_options_from_environment().
absl::StatusOr<std::unique_ptr<FileSystem>> webhdfs_file_system();

}  // namespace distribute::io
