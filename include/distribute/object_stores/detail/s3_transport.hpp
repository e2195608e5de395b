#pragma once
/// One request of S3 from its signature to an error that says why: tried again, and corrected where
/// credentials, region or clock were wrong.

#include <distribute/http/http_client.hpp>
#include <distribute/object_stores/s3_file_system.hpp>

#include <map>
#include <mutex>

namespace distribute::io {

struct S3Path {
  std::string bucket, key;
  std::string str() const { return "s3://" + bucket + "/" + key; }
};

/// Errors  InvalidArgument for what is not s3://bucket or s3://bucket/key.
absl::StatusOr<S3Path> parse_s3_path(std::string_view path);

struct S3Call {
  const char* doing;  // for messages: "read"
  S3Path path;
  std::string method = "GET";
  QueryParameters query = {};
  HttpHeaders headers = {};
  std::string_view body = {};
  std::span<char> sink = {};
  double stall_timeout = 0;    // 0: the options'
  bool error_in_body = false;  // a 200 may hold an error
};

/// Thread-safe. A call is tried again after failures that pass; expired credentials are renewed, a
/// wrong region or clock is corrected, each once.
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
  /// True when the call may be sent again; `done` remembers what was corrected already.
  absl::StatusOr<bool> correct(const S3Call& call, const Sent& sent, std::string& done);
  absl::Status error_of(const S3Call& call, const Sent& sent) const;
  std::string region_of(const std::string& bucket) const;
  int64_t now() const;

  const S3Options options_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> regions_;  // of buckets; guarded by mutex_
  int64_t clock_offset_ = 0;                    // the server's clock minus ours; guarded by mutex_
};

}  // namespace distribute::io
