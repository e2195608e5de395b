#pragma once
/// Whole files through a FileSystem, for tests.

#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>

#include <string>
#include <string_view>

/// Appends the bytes piece by piece and closes the file.
inline absl::Status write_in_pieces(distribute::io::FileSystem& fs, const std::string& path,
                                    const std::string& bytes, size_t piece) {
  auto file = fs.create(path);
  if (!file.ok()) return file.status();
  for (size_t i = 0; i < bytes.size(); i += piece) {
    const absl::Status status = (*file)->append(std::string_view(bytes).substr(i, piece));
    if (!status.ok()) return status;
  }
  return (*file)->close();
}

inline std::string read_whole(distribute::io::FileSystem& fs, const std::string& path) {
  auto file = distribute::value_or_throw(fs.open(path));
  std::string bytes(size_t(file->size()), '\0');
  distribute::throw_if_error(file->read(0, bytes));
  return bytes;
}

/// Bytes without a pattern, the same each time.
inline std::string bytes_of(size_t count) {
  std::string bytes(count, '\0');
  for (size_t i = 0; i < count; ++i) bytes[i] = char(i * 2654435761u >> 13);
  return bytes;
}
