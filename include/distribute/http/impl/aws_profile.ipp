#pragma once
#include <distribute/http/credentials.hpp>

#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>

#include <algorithm>

namespace distribute::io_internal {

DISTRIBUTE_INLINE std::string_view without_blanks(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t\r");
  if (start == std::string_view::npos) return "";
  return text.substr(start, text.find_last_not_of(" \t\r") - start + 1);
}

/// Turns "profile NAME" into "NAME".
DISTRIBUTE_INLINE std::string section_name(std::string_view line) {
  std::string_view name = without_blanks(line.substr(1, line.find(']') - 1));
  if (name.starts_with("profile ")) name = without_blanks(name.substr(8));
  return std::string(name);
}

/// Reads one line. `nested` is the key that indented lines belong to.
DISTRIBUTE_INLINE bool read_setting(std::string_view line, io::AwsProfile& profile,
                                    std::string& nested) {
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos) return false;
  const bool indented = line.starts_with(' ') || line.starts_with('\t');
  const std::string key(without_blanks(line.substr(0, equals)));
  std::string_view value = line.substr(equals + 1);
  value = value.substr(0, std::min(value.find(" #"), value.find(" ;")));
  if (!indented) nested = key;
  profile[indented && !nested.empty() ? nested + "." + key : key] = without_blanks(value);
  return !key.empty();
}

/// Reads one of the two files; a missing file counts as an empty one.
DISTRIBUTE_INLINE absl::StatusOr<std::map<std::string, io::AwsProfile>> read_aws_file(
    const Environment& environment, const std::string& variable, const std::string& name) {
  std::string path = environment.text(variable);
  const std::string home = environment.text("HOME");
  if (path.empty() && home.empty()) return std::map<std::string, io::AwsProfile>();
  if (path.empty()) path = home + "/.aws/" + name;
  auto text = io::read_local_text(path);
  if (text.ok()) return io::parse_aws_profiles(*text, path);
  if (absl::IsNotFound(text.status())) return std::map<std::string, io::AwsProfile>();
  return text.status();
}

}  // namespace distribute::io_internal

namespace distribute::io {

// It does not use file_system.hpp, on which s3:// itself depends.
DISTRIBUTE_INLINE absl::StatusOr<std::string> read_local_text(const std::string& path) {
  try {
    return untrusted::read_text_file(path);
  } catch (const Error& error) {
    return make_status(error.code(), error.what());
  }
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> read_named_text(const std::string& path,
                                                              const std::string& setting) {
  auto text = read_local_text(path);
  if (text.ok()) return text;
  const bool missing = absl::IsNotFound(text.status());
  return make_status(missing ? StatusCode::FailedPrecondition : StatusCode::PermissionDenied,
                     str_cat(text.status().message(), "; ", setting, " names it"));
}

DISTRIBUTE_INLINE absl::StatusOr<std::map<std::string, AwsProfile>> parse_aws_profiles(
    std::string_view text, const std::string& path) {
  std::map<std::string, AwsProfile> profiles;
  AwsProfile* profile = nullptr;
  std::string nested;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string_view bare = io_internal::without_blanks(line);
    if (bare.empty() || bare.starts_with('#') || bare.starts_with(';')) continue;
    if (bare.starts_with('[') && bare.find(']') != std::string_view::npos) {
      profile = &profiles[io_internal::section_name(bare)];
      nested.clear();
    } else if (!profile || !io_internal::read_setting(line, *profile, nested)) {
      return make_status(StatusCode::InvalidArgument,
                         str_cat(path, ": line ", number, " is neither [section] nor key = value"));
    }
  }
  return profiles;
}

DISTRIBUTE_INLINE absl::StatusOr<AwsProfile> load_aws_profile(const Environment& environment,
                                                              std::string name) {
  if (name.empty()) name = environment.text("AWS_PROFILE");
  const bool asked = !name.empty();
  if (!asked) name = "default";
  auto config = io_internal::read_aws_file(environment, "AWS_CONFIG_FILE", "config");
  if (!config.ok()) return config.status();
  auto credentials =
      io_internal::read_aws_file(environment, "AWS_SHARED_CREDENTIALS_FILE", "credentials");
  if (!credentials.ok()) return credentials.status();
  if (asked && !config->contains(name) && !credentials->contains(name))
    return make_status(StatusCode::FailedPrecondition,
                       str_cat("the profile ", untrusted::shown(name),
                               " (AWS_PROFILE) is neither in ~/.aws/credentials nor in "
                               "~/.aws/config; correct the name, or run 'aws configure --profile ",
                               untrusted::printable(name, 80), "'"));
  AwsProfile profile = (*credentials)[name];
  profile.merge((*config)[name]);
  return profile;
}

}  // namespace distribute::io
