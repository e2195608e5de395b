#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/detail/check_output.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/train/run_report.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace distribute::train_internal {

DISTRIBUTE_INLINE bool is_on_store(const std::string& path) {
  return path.find("://") != std::string::npos;
}

/// Returns an absolute path with one slash at its end.
DISTRIBUTE_INLINE std::string plain_directory(const std::string& path) {
  std::string plain =
      is_on_store(path) ? path : std::filesystem::absolute(path).lexically_normal().string();
  plain.erase(plain.find_last_not_of('/') + 1);
  return plain + "/";
}

/// Returns the directory in which the output appears first: if directories are to be made, the one
/// that exists.
DISTRIBUTE_INLINE std::string directory_of_output(const train::OutputPath& output) {
  std::string path = output.path;
  const bool is_made =
      output.kind == train::OutputKind::Directory || output.kind == train::OutputKind::Alone;
  if (output.kind == train::OutputKind::Directory && ::access(path.c_str(), F_OK) == 0) return path;
  do {
    path.erase(path.find_last_not_of('/') + 1);
    const size_t slash = path.rfind('/');
    path = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  } while (is_made && path.size() > 1 && ::access(path.c_str(), F_OK) != 0);
  return path;
}

DISTRIBUTE_INLINE void check_apart(const train::OutputPath& one, const train::OutputPath& other) {
  if (one.path.empty() || other.path.empty() || one.path == "-") return;
  if (other.kind == train::OutputKind::Alone && train::lies_in(one.path, other.path))
    throw InvalidArgumentError(str_cat(one.name, "=", one.path, " lies in ", other.name, "=",
                                       other.path, ", which holds a SavedModel and nothing ",
                                       "else: give another folder to one"));
  if (one.path == other.path)
    throw InvalidArgumentError(str_cat(one.name, " and ", other.name, " are both ", one.path));
}

DISTRIBUTE_INLINE void check_kind(const train::OutputPath& output) {
  std::error_code error;
  const auto found = std::filesystem::status(output.path, error);
  if (error && found.type() == std::filesystem::file_type::none)
    throw InvalidArgumentError(
        str_cat(output.name, "=", untrusted::printable(output.path), ": ", error.message()));
  if (output.kind == train::OutputKind::Directory && !std::filesystem::is_directory(found) &&
      std::filesystem::exists(found))
    throw InvalidArgumentError(
        str_cat(output.name, "=", untrusted::printable(output.path), " is not a directory"));
}

/// Makes a file without a name, or one that is removed at once; false, with errno, where none can
/// be made. Rights alone do not tell: a superuser has them in /proc.
DISTRIBUTE_INLINE bool can_make_file(const std::string& directory) {
  int file = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
    std::string name = io::join_path(directory, ".writable_XXXXXX");
    file = ::mkstemp(name.data());
    if (file >= 0) ::unlink(name.c_str());
  }
  if (file >= 0) ::close(file);
  return file >= 0;
}

DISTRIBUTE_INLINE void check_writable(const train::OutputPath& output) {
  const std::string directory = directory_of_output(output);
  if (can_make_file(directory)) return;
  throw PermissionDeniedError(
      str_cat(output.name, "=", untrusted::printable(output.path), ": directory ", directory,
              " cannot be written: ", std::generic_category().message(errno)));
}

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE bool lies_in(const std::string& path, const std::string& directory) {
  if (path.empty() || directory.empty()) return false;
  return train_internal::plain_directory(path).starts_with(
      train_internal::plain_directory(directory));
}

DISTRIBUTE_INLINE void check_output_paths(const std::vector<OutputPath>& outputs) {
  for (const OutputPath& one : outputs)
    for (const OutputPath& other : outputs)
      if (&one != &other) train_internal::check_apart(one, other);
  for (const OutputPath& output : outputs)
    if (!output.path.empty() && output.path != "-" && !train_internal::is_on_store(output.path)) {
      if (output.kind == OutputKind::File) {
        io::check_output_file(output.name, output.path);
        continue;
      }
      train_internal::check_kind(output);
      train_internal::check_writable(output);
    }
}

DISTRIBUTE_INLINE void check_output_stores(const std::vector<OutputPath>& outputs) {
  for (const OutputPath& output : outputs) {
    if (!train_internal::is_on_store(output.path)) continue;
    const bool is_file = output.kind == OutputKind::File || output.kind == OutputKind::Prefix;
    const std::string directory = is_file ? io::directory_of(output.path) : output.path;
    const std::string probe = io::join_path(directory, "probe" + std::to_string(::getpid()));
    absl::Status status = io::write_file_atomically(probe, "may this task write here?\n");
    if (status.ok()) status = (*io::file_system_for(probe))->remove_file(probe);
    if (status.ok()) continue;
    throw_if_error(absl::Status(
        status.code(),
        str_cat(output.name, "=", untrusted::printable(output.path), ": ", status.message())));
  }
}

}  // namespace distribute::train
