#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/detail/check_output.hpp>
#include <distribute/io/file_system.hpp>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace distribute::io {

DISTRIBUTE_INLINE void check_output_file(const std::string& name, const std::string& path) {
  if (path.find("://") != std::string::npos) return;
  const std::string given = str_cat(name, "=", untrusted::printable(path));
  std::error_code error;
  const auto found = std::filesystem::status(path, error);
  if (error && found.type() == std::filesystem::file_type::none)
    throw InvalidArgumentError(str_cat(given, ": ", error.message()));
  if (std::filesystem::is_directory(found))
    throw InvalidArgumentError(given + " is a directory; name a file in it");
  const std::string target = value_or_throw(local_file_system().output_target(path));
  const size_t slash = target.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : target.substr(0, slash + 1);
  const std::string& written = target.empty() ? path : directory;
  if (::access(written.c_str(), W_OK) == 0) return;
  const std::string reason = std::generic_category().message(errno);
  throw PermissionDeniedError(
      str_cat(given, target.empty() ? "" : str_cat(": directory ", untrusted::printable(directory)),
              " cannot be written: ", reason));
}

}  // namespace distribute::io
