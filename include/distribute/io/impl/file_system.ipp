#pragma once
#include <distribute/io/file_system.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>

namespace distribute::io {

// Its header includes file_system.hpp, so it can only follow (see below).
FileSystem& local_file_system();

DISTRIBUTE_INLINE absl::Status RandomAccessFile::read(int64_t offset, std::span<char> out) const {
  auto count = read_some(offset, out);
  if (!count.ok()) return count.status();
  if (*count == int64_t(out.size())) return absl::OkStatus();
  return make_status(StatusCode::DataLoss,
                     concat(path(), ": wanted ", out.size(), " bytes at offset ", offset,
                            ", but the file ends after ", *count, " of them"));
}

DISTRIBUTE_INLINE absl::StatusOr<FileSystem*> file_system_for(std::string_view path) {
  const std::string_view scheme = scheme_of(path);
  if (scheme.empty() || scheme == "file") return &local_file_system();
  return make_status(StatusCode::Unimplemented, concat(path, ": no file system for '", scheme,
                                                       "://' in this version; use a local path"));
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

DISTRIBUTE_INLINE absl::Status remove_recursively(const std::string& path) {
  auto file_system = file_system_for(path);
  if (!file_system.ok()) return file_system.status();
  FileSystem& fs = **file_system;
  const absl::Status removed = fs.remove_file(path);  // links too: nothing behind them is touched
  if (removed.ok() || removed.code() == absl::StatusCode::kNotFound) return absl::OkStatus();
  auto is_directory = fs.is_directory(path);
  if (!is_directory.ok() || !*is_directory) return removed;
  auto names = fs.list_directory(path);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    const absl::Status status = remove_recursively(join_path(path, name));
    if (!status.ok()) return status;
  }
  return fs.remove_directory(path);
}

}  // namespace distribute::io

#include <distribute/io/local_file_system.hpp>
