#pragma once
/// Credentials of cloud services: files of profiles, and tokens of Google's accounts.

#include <distribute/base/config.hpp>
#include <distribute/http/http_client.hpp>

#include <absl/status/statusor.h>

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace distribute::io {

/// The value of an environment variable, "" where it is not set.
using EnvironmentReader = std::function<std::string(const std::string& name)>;

/// EnvironmentReader of this process.
std::string process_environment(const std::string& name);

/// Reads a small local file. Errors  NotFound, PermissionDenied.
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

struct GoogleAuthOptions {  // of GoogleAuthProvider
  /// For refresh tokens; a service account's file names its own.
  std::string token_url = "https://oauth2.googleapis.com/token";
  double metadata_timeout = 5;  // seconds for one question to the metadata server
  EnvironmentReader environment = process_environment;
  HttpRetryPolicy retry = {};          // of the token servers
  std::function<double()> clock = {};  // seconds since 1970; empty: the system's
};

/// Looks, in this order, at GOOGLE_AUTH_TOKEN_FOR_TESTING (a token as it is), the file that
/// GOOGLE_APPLICATION_CREDENTIALS names, else application_default_credentials.json below
/// CLOUDSDK_CONFIG or ~/.config/gcloud (a user's refresh token or a service account's key), and the
/// metadata server of the machine (GCE_METADATA_HOST for another one, NO_GCE_CHECK=true for none).
/// Thread-safe.
/// Source  tensorflow::GoogleAuthProvider
class GoogleAuthProvider {
 public:
  explicit GoogleAuthProvider(GoogleAuthOptions options = {}) : options_(std::move(options)) {}

  /// A token that is good for another minute at least; empty where there is none, which is enough
  /// for public objects.
  /// Errors  for a credentials file that is named and cannot be used, naming it:
  ///         FailedPrecondition (not there), DataLoss, InvalidArgument, Unauthenticated (the server
  ///         does not accept it), Unavailable.
  absl::StatusOr<std::string> get_token();
  /// The next get_token() asks anew: a server did not accept the last one.
  void forget_token();
  /// Where the last token came from, or why there is none; for messages.
  std::string origin() const;

 private:
  struct Token {
    std::string text;
    double expires = 0;  // seconds since 1970
    std::string origin;
  };
  absl::StatusOr<Token> find() const;
  absl::StatusOr<Token> from_file(const std::string& path) const;
  absl::StatusOr<Token> from_metadata() const;
  absl::StatusOr<Token> exchange(const std::string& url, const std::string& form,
                                 const std::string& origin) const;
  absl::StatusOr<Token> parse(const std::string& json, const std::string& origin) const;
  double now() const;

  const GoogleAuthOptions options_;
  mutable std::mutex mutex_;  // guards token_
  Token token_;
};

}  // namespace distribute::io
