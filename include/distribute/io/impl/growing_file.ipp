#pragma once
#include <distribute/io/detail/growing_file.hpp>

#include <utility>

namespace distribute::io_internal {

class RewrittenFile final : public io::WritableFile {
 public:
  RewrittenFile(io::FileSystem& fs, std::string path) : fs_(fs), path_(std::move(path)) {}
  absl::Status append(std::string_view bytes) override {
    bytes_.append(bytes);
    return absl::OkStatus();
  }
  DISTRIBUTE_INLINE absl::Status flush() override;
  absl::Status sync() override { return flush(); }
  absl::Status close() override { return flush(); }

 private:
  io::FileSystem& fs_;
  const std::string path_;
  std::string bytes_;
  size_t written_ = 0;
  bool exists_ = false;
};

DISTRIBUTE_INLINE absl::Status RewrittenFile::flush() {
  if (exists_ && written_ == bytes_.size()) return absl::OkStatus();
  auto file = fs_.create(path_);
  if (!file.ok()) return file.status();
  absl::Status status = (*file)->append(bytes_);
  if (status.ok()) status = (*file)->close();
  if (!status.ok()) return status;
  exists_ = true;
  written_ = bytes_.size();
  return status;
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<WritableFile>> create_growing_file(
    const std::string& path) {
  auto fs = file_system_for(path);
  if (!fs.ok()) return fs.status();
  if ((*fs)->has_atomic_move()) return (*fs)->create(path);
  return std::make_unique<io_internal::RewrittenFile>(**fs, path);
}

}  // namespace distribute::io
