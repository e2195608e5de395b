#pragma once
/// Signs HTTP requests by Signature Version 4, as Amazon's services and all S3 servers require.

#include <distribute/http/http_client.hpp>

#include <absl/status/status.h>

namespace distribute::io {

/// Credentials that sign a request; anonymous without an access key.
struct AwsCredentials {
  std::string access_key_id = {}, secret_access_key = {};
  std::string session_token = {};  // set for temporary credentials
  int64_t expiration = 0;          // seconds since 1970; 0: never
  std::string source = {};         // origin of the credentials, for messages

  bool anonymous() const { return access_key_id.empty(); }
};

/// The scope for which a signature is valid.
struct AwsSignatureScope {
  std::string region;
  std::string service = "s3";
  int64_t time = 0;  // seconds since 1970
  /// Hexadecimal SHA-256 of the body, or "UNSIGNED-PAYLOAD".
  std::string payload_hash;
};

/// Computes the SHA-256 in hexadecimal digits, as payload hashes are written.
std::string aws_payload_hash(std::string_view body);

/// Adds Host, X-Amz-Date, the session token, Authorization and, for S3, X-Amz-Content-Sha256, and
/// signs all headers. Path and query must be encoded with url_encode and query_string. Does nothing
/// for anonymous credentials.
/// Errors  InvalidArgument (URL); Unimplemented in a build without OpenSSL.
/// Source  Amazon S3 API reference, "Authenticating Requests (AWS Signature Version 4)"
absl::Status sign_aws_request(HttpRequest& request, const AwsCredentials& credentials,
                              const AwsSignatureScope& scope);

}  // namespace distribute::io
