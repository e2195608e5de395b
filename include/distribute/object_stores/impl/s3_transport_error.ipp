#pragma once
#include <distribute/object_stores/detail/s3_transport.hpp>

#include <distribute/base/environment.hpp>
#include <distribute/object_stores/detail/xml.hpp>

#include <algorithm>
#include <initializer_list>

namespace distribute::io_internal {

DISTRIBUTE_INLINE bool is_one_of(std::string_view text,
                                 std::initializer_list<std::string_view> choices) {
  return std::find(choices.begin(), choices.end(), text) != choices.end();
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE S3Error s3_error(const HttpResponse& response) {
  S3Error error{.code = {},
                .message = {},
                .request_id = response.header("x-amz-request-id"),
                .region = response.header("x-amz-bucket-region")};
  if (response.body.find("<Error") == std::string::npos) return error;
  const auto root = parse_xml(response.body);
  if (!root.ok() || root->name != "Error") return error;
  error.code = root->text_of("Code");
  error.message = root->text_of("Message");
  if (error.request_id.empty()) error.request_id = root->text_of("RequestId");
  if (error.region.empty()) error.region = root->text_of("Region");
  return error;
}

DISTRIBUTE_INLINE bool says_expired(const S3Error& error) {
  return io_internal::is_one_of(error.code, {"ExpiredToken", "ExpiredTokenException",
                                             "InvalidToken", "TokenRefreshRequired"});
}

DISTRIBUTE_INLINE bool may_pass(const S3Error& error) {
  return io_internal::is_one_of(
      error.code, {"RequestTimeout", "InternalError", "SlowDown", "ServiceUnavailable",
                   "OperationAborted", "ConditionalRequestConflict", "Throttling"});
}

DISTRIBUTE_INLINE StatusCode code_of_s3(int status, const S3Error& error) {
  if (says_expired(error)) return StatusCode::Unauthenticated;
  if (may_pass(error)) return StatusCode::Unavailable;
  if (io_internal::is_one_of(error.code, {"RequestTimeTooSkewed", "AuthorizationHeaderMalformed"}))
    return StatusCode::FailedPrecondition;
  switch (status) {
    case 401:
    case 403: return StatusCode::PermissionDenied;
    case 404:  // no bucket, or no S3 server: not just an object that is missing
      return error.code.empty() || error.code == "NoSuchBucket" ? StatusCode::FailedPrecondition
                                                                : StatusCode::NotFound;
    case 301:
    case 307:
    case 409:
    case 412: return StatusCode::FailedPrecondition;
    case 416: return StatusCode::OutOfRange;
    case 501: return StatusCode::Unimplemented;
    default:
      return status >= 500 || status == 429 || status == 408 ? StatusCode::Unavailable
                                                             : StatusCode::InvalidArgument;
  }
}

DISTRIBUTE_INLINE std::string cure_of_s3(int status, const S3Error& error,
                                         const AwsCredentials& used, const std::string& region) {
  if (says_expired(error))
    return str_cat("; the credentials of ", used.source, " have expired: renew them");
  if (io_internal::is_one_of(error.code, {"InvalidAccessKeyId", "SignatureDoesNotMatch"}))
    return str_cat("; check the access key and the secret key, which came from ", used.source);
  if (error.code == "RequestTimeTooSkewed") return "; set this host's clock (NTP)";
  if (error.code == "NoSuchBucket")
    return str_cat("; check the bucket's name, S3_ENDPOINT, and the region '",
                   untrusted::printable(region, 80), "'");
  if (io_internal::is_one_of(error.code, {"AuthorizationHeaderMalformed", "PermanentRedirect"}))
    return str_cat("; the region '", untrusted::printable(region, 80),
                   "' is not the bucket's: set AWS_REGION",
                   error.region.empty() ? "" : " to " + error.region);
  if (status == 412) return "; the object was changed or removed meanwhile";
  if (status == 403 && used.anonymous())
    return str_cat("; the request was not signed, credentials came from ", used.source);
  if (status == 403)
    return str_cat("; the credentials of ", used.source,
                   " may not do this: ask for s3:GetObject, "
                   "s3:PutObject, s3:DeleteObject and s3:ListBucket");
  if (error.code.empty()) return "; the answer is not that of an S3 server: check S3_ENDPOINT";
  return "";
}

}  // namespace distribute::io
