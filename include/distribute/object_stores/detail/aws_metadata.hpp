#pragma once
/// What the servers beside a program know about it: the credentials of its container or instance,
/// and the region.

#include <distribute/http/credentials.hpp>
#include <distribute/object_stores/detail/aws_signature.hpp>

#include <optional>
#include <string>

namespace distribute::io {

struct AwsCredentialsOptions {
  EnvironmentReader environment = process_environment;
  std::function<int64_t()> clock = {};  // seconds since 1970; empty: the system's
  /// Seconds that a metadata server may take, and how often it is asked.
  double metadata_timeout = 1;
  int metadata_attempts = 2;
};

/// AWS_REGION, AWS_DEFAULT_REGION, the profile's, the instance's, else "us-east-1".
absl::StatusOr<std::string> find_aws_region(const AwsCredentialsOptions& options);

}  // namespace distribute::io

namespace distribute::io_internal {

/// Nothing: this source is not configured.
using MaybeAwsCredentials = absl::StatusOr<std::optional<io::AwsCredentials>>;

/// Seconds since 1970; 0 for what is no time.
int64_t parse_aws_time(const std::string& text);

/// {"AccessKeyId", "SecretAccessKey", "Token" or "SessionToken", "Expiration"}.
absl::StatusOr<io::AwsCredentials> credentials_from_json(const std::string& text,
                                                         const std::string& source);

/// The body of a 2xx answer to `request`; `what` is asked, for messages.
absl::StatusOr<std::string> body_of_answer(absl::StatusOr<io::HttpResponse> response,
                                           const io::HttpRequest& request, const std::string& what);

MaybeAwsCredentials optional_of(absl::StatusOr<io::AwsCredentials> credentials);

/// Reads them from the address in AWS_CONTAINER_CREDENTIALS_*.
MaybeAwsCredentials credentials_of_container(const io::AwsCredentialsOptions& options);
/// Reads them from the instance's metadata server (IMDSv2). Where no server answers, this is no
/// instance.
MaybeAwsCredentials credentials_of_instance(const io::AwsCredentialsOptions& options);

/// Reads AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
MaybeAwsCredentials credentials_of_environment(const io::AwsCredentialsOptions& options);
/// Reads AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN.
MaybeAwsCredentials credentials_of_web_identity(const io::AwsCredentialsOptions& options);
/// The profile `name`, empty: AWS_PROFILE's; `depth` profiles led to it.
MaybeAwsCredentials credentials_of_profile(const io::AwsCredentialsOptions& options,
                                           const std::string& name, int depth);

}  // namespace distribute::io_internal
