#pragma once
/// What an S3 server says went wrong, as a status code and in words that help.

#include <distribute/base/error.hpp>
#include <distribute/object_stores/detail/aws_signature.hpp>

namespace distribute::io {

struct S3Error {
  std::string code = {}, message = {}, request_id = {};
  std::string region = {};  // of the bucket, where the answer gives it
};

/// Empty members for an answer that is not S3's.
S3Error s3_error(const HttpResponse& response);

/// The credentials were good once.
bool says_expired(const S3Error& error);

/// Trying again can help, whatever the HTTP status says.
bool may_pass(const S3Error& error);

/// NotFound only where S3 says that an object is not there; a bucket that is not, and a 404 of
/// another server, are FailedPrecondition.
/// Source  the mapping of tensorflow-io, but what may pass is Unavailable.
StatusCode code_of_s3(int status, const S3Error& error);

/// "; what to do", or nothing. `used` signed the request, for `region`.
std::string cure_of_s3(int status, const S3Error& error, const AwsCredentials& used,
                       const std::string& region);

}  // namespace distribute::io
