#pragma once
/// Queries the metadata servers of a container or instance for credentials and the region.

#include <distribute/base/environment.hpp>
#include <distribute/http/credentials.hpp>
#include <distribute/object_stores/detail/aws_signature.hpp>

#include <optional>
#include <string>

namespace distribute::io {

struct AwsCredentialsOptions {
  Environment environment = {};
  std::function<int64_t()> clock = {};  // seconds since 1970; empty: the system's
  /// Seconds that a request to a metadata server may take, and the number of attempts.
  double metadata_timeout = 1;
  int metadata_attempts = 2;
};

/// Finds the region: AWS_REGION, AWS_DEFAULT_REGION, the profile's, the instance's, else
/// "us-east-1".
absl::StatusOr<std::string> find_aws_region(const AwsCredentialsOptions& options);

}  // namespace distribute::io

namespace distribute::io_internal {

/// Credentials from one source; empty when the source is not configured.
using MaybeAwsCredentials = absl::StatusOr<std::optional<io::AwsCredentials>>;

/// Parses a time to seconds since 1970; 0 for text that is no time.
int64_t parse_aws_time(const std::string& text);

/// Parses {"AccessKeyId", "SecretAccessKey", "Token" or "SessionToken", "Expiration"}.
absl::StatusOr<io::AwsCredentials> credentials_from_json(const std::string& text,
                                                         const std::string& source);

/// Gives the body of a 2xx answer to `request`; `what` names the wanted thing in messages.
absl::StatusOr<std::string> body_of_answer(absl::StatusOr<io::HttpResponse> response,
                                           const io::HttpRequest& request, const std::string& what);

MaybeAwsCredentials optional_of(absl::StatusOr<io::AwsCredentials> credentials);

/// Reads them from the address in AWS_CONTAINER_CREDENTIALS_*.
MaybeAwsCredentials credentials_of_container(const io::AwsCredentialsOptions& options);
/// Reads them from the instance's metadata server (IMDSv2). If no server answers, this machine is
/// no instance.
MaybeAwsCredentials credentials_of_instance(const io::AwsCredentialsOptions& options);

/// Reads AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
MaybeAwsCredentials credentials_of_environment(const io::AwsCredentialsOptions& options);
/// Reads AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN.
MaybeAwsCredentials credentials_of_web_identity(const io::AwsCredentialsOptions& options);
/// Reads the profile `name`; an empty name means AWS_PROFILE. `depth` is the number of profiles
/// that led to it.
MaybeAwsCredentials credentials_of_profile(const io::AwsCredentialsOptions& options,
                                           const std::string& name, int depth);

}  // namespace distribute::io_internal
