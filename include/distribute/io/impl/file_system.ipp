#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/detail/ram_file_system.hpp>
#include <distribute/io/file_system.hpp>

#include <map>
#include <mutex>
#include <utility>

namespace distribute::io {

DISTRIBUTE_INLINE std::string join_path(std::string_view directory, std::string_view name) {
  if (directory.empty() || is_absolute_path(name)) return std::string(name);
  std::string path(directory);
  if (path.back() != '/') path += '/';
  return path.append(name);
}

DISTRIBUTE_INLINE std::string directory_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return "";
  const std::string_view scheme = scheme_of(path);
  if (!scheme.empty() && slash < scheme.size() + 3) return std::string(path);
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

DISTRIBUTE_INLINE std::string file_name_of(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

DISTRIBUTE_INLINE std::string_view scheme_of(std::string_view path) {
  const size_t colon = path.find("://");
  const bool has_scheme = colon != std::string_view::npos && colon > 0 && colon < path.find('/');
  return has_scheme ? path.substr(0, colon) : std::string_view();
}

DISTRIBUTE_INLINE bool is_absolute_path(std::string_view path) {
  return path.starts_with('/') || !scheme_of(path).empty();
}

}  // namespace distribute::io

namespace distribute::io_internal {

/// The registered file systems by scheme, without the local one. Thread-safe.
class FileSystems {
 public:
  FileSystems() { by_scheme_["ram"].made = std::make_unique<RamFileSystem>(); }
  /// Finds the file system of a scheme; null when none is registered, an error where its settings
  /// are wrong.
  absl::StatusOr<io::FileSystem*> find(const std::string& scheme);
  absl::Status add(const std::string& scheme, io::FileSystemMaker make);

 private:
  struct Entry {
    io::FileSystemMaker make;
    std::unique_ptr<io::FileSystem> made;
  };
  std::mutex mutex_;  // guards by_scheme_
  std::map<std::string, Entry> by_scheme_;
};

DISTRIBUTE_INLINE absl::StatusOr<io::FileSystem*> FileSystems::find(const std::string& scheme) {
  const std::lock_guard lock(mutex_);
  const auto found = by_scheme_.find(scheme);
  if (found == by_scheme_.end()) return nullptr;
  Entry& entry = found->second;
  if (entry.made) return entry.made.get();
  auto fresh = entry.make();
  if (!fresh.ok()) return fresh.status();
  entry.made = *std::move(fresh);
  return entry.made.get();
}

DISTRIBUTE_INLINE absl::Status FileSystems::add(const std::string& scheme,
                                                io::FileSystemMaker make) {
  if (!make || scheme.empty() || scheme == "file" || io::scheme_of(scheme + "://") != scheme)
    return make_status(StatusCode::InvalidArgument,
                       str_cat("register_file_system: '", scheme,
                               "' is no scheme of its own, or there is no file system"));
  const std::lock_guard lock(mutex_);
  if (!by_scheme_.try_emplace(scheme, Entry{std::move(make), nullptr}).second)
    return make_status(StatusCode::AlreadyExists, str_cat("register_file_system: '", scheme,
                                                          "://' has a file system already"));
  return absl::OkStatus();
}

/// Says how to get the file system of a scheme that is not registered.
DISTRIBUTE_INLINE std::string file_system_cure(const std::string& scheme) {
  for (const char* known : {"s3", "gs", "hdfs", "webhdfs", "swebhdfs"})
    if (scheme == known)
      return "include <distribute/object_stores.hpp> and link distribute::object_stores";
  return "use a local path or register_file_system";
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE absl::Status RandomAccessFile::read(int64_t offset, std::span<char> out) const {
  auto count = read_some(offset, out);
  if (!count.ok()) return count.status();
  if (*count == int64_t(out.size())) return absl::OkStatus();
  return make_status(StatusCode::DataLoss,
                     str_cat(path(), ": wanted ", out.size(), " bytes at offset ", offset,
                             ", but the file ends after ", *count, " of them"));
}

DISTRIBUTE_INLINE absl::StatusOr<FileSystem*> file_system_for(std::string_view path) {
  const std::string scheme(scheme_of(path));
  if (scheme.empty() || scheme == "file") return &local_file_system();
  const auto found = in_process<io_internal::FileSystems>().find(scheme);
  if (!found.ok() || *found) return found;
  return make_status(StatusCode::Unimplemented,
                     str_cat(path, ": no file system for '", scheme, "://' in this program; ",
                             io_internal::file_system_cure(scheme)));
}

DISTRIBUTE_INLINE absl::Status register_file_system(const std::string& scheme,
                                                    std::unique_ptr<FileSystem> fs) {
  if (!fs) return register_file_system_maker(scheme, nullptr);
  auto shared = std::make_shared<std::unique_ptr<FileSystem>>(std::move(fs));
  return register_file_system_maker(
      scheme,
      [shared]() -> absl::StatusOr<std::unique_ptr<FileSystem>> { return std::move(*shared); });
}

DISTRIBUTE_INLINE absl::Status register_file_system_maker(const std::string& scheme,
                                                          FileSystemMaker make) {
  return in_process<io_internal::FileSystems>().add(scheme, std::move(make));
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> read_file(const std::string& path) {
  auto file_system = file_system_for(path);
  if (!file_system.ok()) return file_system.status();
  auto file = (*file_system)->open(path);
  if (!file.ok()) return file.status();
  std::string bytes(size_t((*file)->size()), '\0');
  const absl::Status status = (*file)->read(0, bytes);
  if (!status.ok()) return status;
  return bytes;
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> FileSystem::output_target(const std::string& path) {
  return path;
}

DISTRIBUTE_INLINE absl::Status FileSystem::remove_tree(const std::string& path) {
  auto names = list_directory(path);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    const absl::Status status = remove_recursively(join_path(path, name));
    if (!status.ok()) return status;
  }
  return remove_directory(path);
}

DISTRIBUTE_INLINE absl::Status remove_recursively(const std::string& path) {
  auto file_system = file_system_for(path);
  if (!file_system.ok()) return file_system.status();
  FileSystem& fs = **file_system;
  absl::Status removed = fs.remove_file(path);  // a link is removed, and its target is not touched
  if (removed.code() == absl::StatusCode::kNotFound) removed = absl::OkStatus();
  // A store may have both an object "a" and objects "a/...", or the latter alone.
  if (removed.ok() && fs.has_atomic_move()) return removed;
  auto is_directory = fs.is_directory(path);
  if (!is_directory.ok() || !*is_directory) return removed;
  return fs.remove_tree(path);
}

}  // namespace distribute::io
