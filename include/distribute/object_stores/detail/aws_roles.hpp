#pragma once
/// Credentials of roles: by web identity, and by the profiles of ~/.aws.

#include <distribute/object_stores/detail/aws_metadata.hpp>

#include <string>

namespace distribute::io_internal {

/// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
MaybeAwsCredentials credentials_of_environment(const io::AwsCredentialsOptions& options);
/// AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN.
MaybeAwsCredentials credentials_of_web_identity(const io::AwsCredentialsOptions& options);
/// The profile `name`, empty: AWS_PROFILE's; `depth` profiles led to it.
MaybeAwsCredentials credentials_of_profile(const io::AwsCredentialsOptions& options,
                                           const std::string& name, int depth);

}  // namespace distribute::io_internal
