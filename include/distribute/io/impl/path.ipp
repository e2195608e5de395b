#pragma once
#include <distribute/io/file_system.hpp>

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
