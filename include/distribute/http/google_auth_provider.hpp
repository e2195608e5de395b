#pragma once
/// Where the bearer tokens for Google Cloud come from.

#include <distribute/http/detail/aws_profile.hpp>
#include <distribute/http/http_retry.hpp>

#include <mutex>
#include <string>

namespace distribute::io {

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
