#pragma once
#include <distribute/io/detail/ram_file_system.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>

#include <new>
#include <set>
#include <utility>

namespace distribute::io_internal {

class RamReader final : public io::RandomAccessFile {
 public:
  RamReader(std::string path, std::shared_ptr<const RamFileSystem::File> file)
      : path_(std::move(path)), file_(std::move(file)), size_(file_->bytes.size()) {}
  const std::string& path() const override { return path_; }
  int64_t size() const override { return int64_t(size_); }
  absl::StatusOr<int64_t> read_some(int64_t offset, std::span<char> out) const override {
    const std::lock_guard lock(file_->mutex);
    if (size_t(offset) >= file_->bytes.size()) return 0;
    return int64_t(file_->bytes.copy(out.data(), out.size(), size_t(offset)));
  }

 private:
  const std::string path_;
  const std::shared_ptr<const RamFileSystem::File> file_;
  const size_t size_;
};

class RamWriter final : public io::WritableFile {
 public:
  RamWriter(std::string path, std::shared_ptr<RamFileSystem::File> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  absl::Status append(std::string_view bytes) override {
    const std::lock_guard lock(file_->mutex);
    try {
      file_->bytes.append(bytes);
    } catch (const std::bad_alloc&) {
      return absl::ResourceExhaustedError(
          str_cat("cannot write ", path_, ": no memory for ", bytes.size(), " bytes more"));
    }
    return absl::OkStatus();
  }
  absl::Status flush() override { return absl::OkStatus(); }
  absl::Status sync() override { return absl::OkStatus(); }
  absl::Status close() override { return absl::OkStatus(); }

 private:
  const std::string path_;
  const std::shared_ptr<RamFileSystem::File> file_;
};

DISTRIBUTE_INLINE absl::Status no_such_file(const char* doing, const std::string& path) {
  return absl::NotFoundError(str_cat("cannot ", doing, " ", path, ": no such file in memory"));
}

/// Gives the prefix of all names below `path`.
DISTRIBUTE_INLINE std::string folder_prefix(const std::string& path) {
  return path.ends_with('/') ? path : path + "/";
}

DISTRIBUTE_INLINE absl::StatusOr<std::shared_ptr<RamFileSystem::File>> RamFileSystem::find(
    const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(path);
  if (found == files_.end()) return no_such_file("open", path);
  return found->second;
}

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<io::RandomAccessFile>> RamFileSystem::open(
    const std::string& path) {
  auto file = find(path);
  if (!file.ok()) return file.status();
  const std::lock_guard lock((*file)->mutex);
  return std::make_unique<RamReader>(path, *file);
}

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<io::WritableFile>> RamFileSystem::create(
    const std::string& path) {
  auto file = std::make_shared<File>();
  const std::lock_guard lock(mutex_);
  files_[path] = file;
  return std::make_unique<RamWriter>(path, std::move(file));
}

DISTRIBUTE_INLINE absl::StatusOr<bool> RamFileSystem::exists(const std::string& path) {
  const auto folder = is_directory(path);
  const std::lock_guard lock(mutex_);
  return *folder || files_.contains(path);
}

DISTRIBUTE_INLINE absl::StatusOr<bool> RamFileSystem::is_directory(const std::string& path) {
  const std::string prefix = folder_prefix(path);
  const std::lock_guard lock(mutex_);
  const auto next = files_.lower_bound(prefix);
  return next != files_.end() && next->first.starts_with(prefix);
}

DISTRIBUTE_INLINE absl::StatusOr<int64_t> RamFileSystem::file_size(const std::string& path) {
  auto file = find(path);
  if (!file.ok()) return file.status();
  const std::lock_guard lock((*file)->mutex);
  return int64_t((*file)->bytes.size());
}

DISTRIBUTE_INLINE absl::StatusOr<std::vector<std::string>> RamFileSystem::list_directory(
    const std::string& path) {
  const std::string prefix = folder_prefix(path);
  std::set<std::string> names;
  const std::lock_guard lock(mutex_);
  for (auto at = files_.lower_bound(prefix); at != files_.end() && at->first.starts_with(prefix);
       ++at)
    names.insert(
        at->first.substr(prefix.size(), at->first.find('/', prefix.size()) - prefix.size()));
  return std::vector<std::string>(names.begin(), names.end());
}

DISTRIBUTE_INLINE absl::Status RamFileSystem::rename(const std::string& from,
                                                     const std::string& to) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(from);
  if (found == files_.end()) return no_such_file("rename", from);
  const auto file = found->second;
  files_.erase(found);
  files_[to] = file;
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::Status RamFileSystem::remove_file(const std::string& path) {
  if (*is_directory(path))
    return absl::FailedPreconditionError(str_cat("cannot remove ", path, ": it is a directory"));
  const std::lock_guard lock(mutex_);
  return files_.erase(path) == 1 ? absl::OkStatus() : no_such_file("remove", path);
}

}  // namespace distribute::io_internal
