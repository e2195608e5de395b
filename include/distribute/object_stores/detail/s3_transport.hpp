#pragma once
/// Sends one request of S3: signs it, repeats it, corrects wrong credentials, region or clock, and
/// makes errors that explain the cause.

#include <distribute/base/error.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/object_stores/detail/aws_signature.hpp>
#include <distribute/object_stores/s3_file_system.hpp>

#include <map>
#include <mutex>

namespace distribute::io {

struct S3Error {
  std::string code = {}, message = {}, request_id = {};
  std::string region = {};  // the bucket's region, if the answer has it
};

/// Parses an error answer; members are empty for an answer that is not S3's.
S3Error s3_error(const HttpResponse& response);

/// Whether the credentials have expired.
bool says_expired(const S3Error& error);

/// Whether trying again can help, whatever the HTTP status says.
bool may_pass(const S3Error& error);

/// Maps an error to a status code. NotFound means that S3 reports a missing object; a missing
/// bucket, and a 404 of another server, are FailedPrecondition.
/// Source  the mapping of tensorflow-io, except that errors which can pass are Unavailable.
StatusCode code_of_s3(int status, const S3Error& error);

/// Gives "; what to do", or nothing. `used` are the credentials that signed the request for
/// `region`.
std::string cure_of_s3(int status, const S3Error& error, const AwsCredentials& used,
                       const std::string& region);

struct S3Path {
  std::string bucket, key;
  std::string str() const { return "s3://" + bucket + "/" + key; }
};

/// Splits a path.
/// Errors  InvalidArgument for text other than s3://bucket or s3://bucket/key.
absl::StatusOr<S3Path> parse_s3_path(std::string_view path);

struct S3Call {
  const char* doing;  // what the call does, for messages, such as "read"
  S3Path path;
  std::string method = "GET";
  QueryParameters query = {};
  HttpHeaders headers = {};
  std::string_view body = {};
  std::span<char> sink = {};
  double stall_timeout = 0;    // 0: the value of the options
  bool error_in_body = false;  // true: a 200 may contain an error
};

/// Sends calls to S3. Thread-safe. A call is repeated after failures that can pass. Expired
/// credentials are renewed, and a wrong region or clock is corrected, each once.
/// Errors  NotFound (the object), PermissionDenied, Unauthenticated (credentials expired),
///         FailedPrecondition (412, bucket, no S3 server, wrong region, clock), OutOfRange (416),
///         Unavailable (500 and above), and those of HttpClient. Messages hold S3's code and text,
///         the HTTP status, the request id, the URL and the cure.
class S3Transport {
 public:
  explicit S3Transport(S3Options options) : options_(std::move(options)) {}

  const S3Options& options() const { return options_; }
  /// The URL of an object, or of the bucket for an empty key.
  std::string url_of(const S3Path& path) const;
  absl::StatusOr<HttpResponse> send(const S3Call& call);

 private:
  struct Sent;
  absl::StatusOr<Sent> send_once(const S3Call& call);
  /// Corrects the cause of a failure. Returns true when the call may be sent again; `done`
  /// remembers earlier corrections.
  absl::StatusOr<bool> correct(const S3Call& call, const Sent& sent, std::string& done);
  absl::Status error_of(const S3Call& call, const Sent& sent) const;
  std::string region_of(const std::string& bucket) const;
  int64_t now() const;

  const S3Options options_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> regions_;  // region of each bucket; guarded by mutex_
  int64_t clock_offset_ = 0;                    // the server's clock minus ours; guarded by mutex_
};

}  // namespace distribute::io
