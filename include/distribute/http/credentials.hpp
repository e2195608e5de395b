#pragma once
/// Credentials of cloud services: profile files, and tokens of Google accounts.

#include <distribute/base/config.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/http/http_client.hpp>

#include <absl/status/statusor.h>

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace distribute::io {

/// False in builds without OpenSSL, in which every digest below is empty.
bool has_digests();

/// Computes SHA-256: 32 bytes.
std::string sha256(std::string_view bytes);
/// Computes MD5: 16 bytes; empty also if the system's policy forbids MD5.
std::string md5(std::string_view bytes);
/// Computes HMAC-SHA256: 32 bytes.
std::string hmac_sha256(std::string_view key, std::string_view message);

/// Makes the RSASSA-PKCS1-v1_5 signature with SHA-256 ("RS256").
/// Errors  InvalidArgument when `private_key` is not unencrypted PEM text of an RSA key;
///         Unimplemented in a build without OpenSSL.
absl::StatusOr<std::string> rsa_sha256_sign(const std::string& private_key,
                                            std::string_view message);

/// Reads a small local file. Errors  as untrusted::read_text_file().
absl::StatusOr<std::string> read_local_text(const std::string& path);

/// Reads a file that `setting` names, such as a variable of the environment. A missing file is not
/// NotFound, which would mean that an object is missing from the store.
/// Errors  FailedPrecondition, PermissionDenied.
absl::StatusOr<std::string> read_named_text(const std::string& path, const std::string& setting);

/// The keys and values of one section; a nested key has the form "s3.addressing_style".
using AwsProfile = std::map<std::string, std::string>;

/// Parses sections by name; "[profile NAME]" of the config file becomes "NAME".
/// Errors  InvalidArgument for a line that is neither a section, `key = value` nor a comment; the
///         message names `path` and the line's number, but never shows the line.
absl::StatusOr<std::map<std::string, AwsProfile>> parse_aws_profiles(std::string_view text,
                                                                     const std::string& path);

/// Reads one profile from both files (AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE, else those
/// in ~/.aws); values of the credentials file win. An empty `name` means AWS_PROFILE, else
/// "default".
/// Errors  FailedPrecondition for a profile that was named but is in neither file; those of
///         parse_aws_profiles().
absl::StatusOr<AwsProfile> load_aws_profile(const Environment& environment, std::string name = "");

struct GoogleAuthOptions {  // options of GoogleAuthProvider
  /// The server for refresh tokens; a service account's file names its own server.
  std::string token_url = "https://oauth2.googleapis.com/token";
  double metadata_timeout = 5;  // seconds for one request to the metadata server
  Environment environment = {};
  HttpRetryPolicy retry = {};          // for requests to token servers
  std::function<double()> clock = {};  // seconds since 1970; empty: the system's
};

/// Finds access tokens. It tries, in this order: GOOGLE_AUTH_TOKEN_FOR_TESTING (a token); the file
/// that GOOGLE_APPLICATION_CREDENTIALS names, else application_default_credentials.json below
/// CLOUDSDK_CONFIG or ~/.config/gcloud (a user's refresh token or a service account's key); the
/// metadata server of the machine (GCE_METADATA_HOST names another one, NO_GCE_CHECK=true turns it
/// off).
/// Thread-safe.
/// Source  tensorflow::GoogleAuthProvider
class GoogleAuthProvider {
 public:
  explicit GoogleAuthProvider(GoogleAuthOptions options = {}) : options_(std::move(options)) {}

  /// Gives a token that is valid for at least another minute; empty when there is no token, which
  /// suffices for public objects.
  /// Errors  for a credentials file that is named and cannot be used, with its name:
  ///         FailedPrecondition (missing), DataLoss, InvalidArgument, Unauthenticated (refused by
  ///         the server), Unavailable.
  absl::StatusOr<std::string> get_token();
  /// Drops a token that a server did not accept; the next get_token() asks for a new one.
  void forget_token();
  /// Says for messages where the last token came from, or why there is none.
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
