#pragma once
/// Finds the credentials of Amazon's services where Amazon's own tools do, and keeps them fresh.

#include <distribute/object_stores/detail/aws_metadata.hpp>
#include <distribute/object_stores/detail/aws_signature.hpp>

#include <mutex>
#include <string>

namespace distribute::io {

/// Asked in this order: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; web identity
/// (AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN); the profile of ~/.aws/credentials and
/// ~/.aws/config with role_arn, web_identity_token_file and credential_process; the container's
/// address (AWS_CONTAINER_CREDENTIALS_*); the instance's metadata server (IMDSv2). A source that
/// is configured and fails is an error; with no source at all requests are anonymous.
/// Thread-safe.
/// Source  AWS SDKs and Tools Reference Guide, "standardized credential providers"
class AwsCredentialsProvider {
 public:
  explicit AwsCredentialsProvider(AwsCredentialsOptions options = {});

  /// Kept until five minutes before they expire; then asked for again.
  /// Errors  Unavailable, DeadlineExceeded, InvalidArgument, ... of the source, with its address.
  absl::StatusOr<AwsCredentials> get();
  /// Others than `refused`, which a server did not accept any more; asks the source unless another
  /// thread has done so already.
  absl::StatusOr<AwsCredentials> renew(const AwsCredentials& refused);

 private:
  int64_t now() const;

  AwsCredentialsOptions options_;
  std::mutex mutex_;
  AwsCredentials known_;  // guarded by mutex_
  bool found_ = false;    // guarded by mutex_
};

/// Asks the sources once.
absl::StatusOr<AwsCredentials> find_aws_credentials(const AwsCredentialsOptions& options);

}  // namespace distribute::io
