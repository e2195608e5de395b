#pragma once
/// The files ~/.aws/credentials and ~/.aws/config.

#include <distribute/base/config.hpp>

#include <absl/status/statusor.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace distribute::io {

/// The value of an environment variable, "" where it is not set.
using EnvironmentReader = std::function<std::string(const std::string& name)>;

/// EnvironmentReader of this process.
std::string process_environment(const std::string& name);

/// A small local file. Errors  NotFound, PermissionDenied.
absl::StatusOr<std::string> read_local_text(const std::string& path);

/// One that `setting` names, such as a variable of the environment. Not NotFound, which would say
/// that what was asked of the store is not there. Errors  FailedPrecondition, PermissionDenied.
absl::StatusOr<std::string> read_named_text(const std::string& path, const std::string& setting);

/// Keys and values of one section; a nested key is "s3.addressing_style".
using AwsProfile = std::map<std::string, std::string>;

/// Sections by name; "[profile NAME]" of the config file counts as "NAME".
/// Errors  InvalidArgument for a line that is neither a section, `key = value` nor a comment; the
///         message names `path` and the line's number, never its text.
absl::StatusOr<std::map<std::string, AwsProfile>> parse_aws_profiles(std::string_view text,
                                                                     const std::string& path);

/// One profile from both files (AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE, else those in
/// ~/.aws); the credentials file wins. Empty `name`: AWS_PROFILE, else "default".
/// Errors  FailedPrecondition for a profile that was asked for by name and is in neither file;
///         those of parse_aws_profiles.
absl::StatusOr<AwsProfile> load_aws_profile(const EnvironmentReader& environment,
                                            std::string name = "");

}  // namespace distribute::io
