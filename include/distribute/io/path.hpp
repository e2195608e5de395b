#pragma once
/// Joining and splitting path names, local or with a scheme such as s3://.

#include <distribute/base/config.hpp>

#include <string>
#include <string_view>

namespace distribute::io {

/// "a" + "b" -> "a/b"; an absolute `name` (or one with a scheme) stands alone.
std::string join_path(std::string_view directory, std::string_view name);

/// Everything before the last slash: "a/b" -> "a", "/a" -> "/", "a" -> ""; a root stands for
/// itself: "s3://bucket" -> "s3://bucket".
std::string directory_of(std::string_view path);

/// Everything after the last slash.
std::string file_name_of(std::string_view path);

/// The scheme in front of "://", or nothing: "s3://bucket/key" -> "s3".
std::string_view scheme_of(std::string_view path);

/// True for "/a" and for "s3://bucket".
bool is_absolute_path(std::string_view path);

}  // namespace distribute::io
