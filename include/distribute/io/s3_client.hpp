#pragma once
/// The requests of S3 that a file system needs, signed, tried again, and with errors that say why.

#include <distribute/io/s3_options.hpp>
#include <distribute/io/url.hpp>

#include <map>
#include <mutex>

namespace distribute::io {

struct S3Path {
  std::string bucket, key;
  std::string str() const { return "s3://" + bucket + "/" + key; }
};

/// Errors  InvalidArgument for what is not s3://bucket or s3://bucket/key.
absl::StatusOr<S3Path> parse_s3_path(std::string_view path);

struct S3ObjectInfo {
  int64_t size = 0;
  std::string etag = {};  // with its quotes
};

/// One page; a directory's objects and the directories below it, both as whole keys.
struct S3Listing {
  std::vector<std::string> keys, prefixes;
  std::vector<int64_t> sizes;     // of keys
  std::string continuation = {};  // empty: the last page
};

/// Thread-safe. Every call is tried again after failures that pass; expired credentials are
/// renewed, a wrong region or clock is corrected, each once.
/// Errors  NotFound, PermissionDenied, Unauthenticated (credentials expired), FailedPrecondition
///         (412, wrong region, clock), OutOfRange (416), Unavailable (500 and above), DataLoss
///         (checksum), and those of HttpClient. Messages hold S3's code and text, the HTTP status,
///         the request id, the URL and the cure.
/// Source  Amazon S3 API reference
class S3Client {
 public:
  explicit S3Client(S3Options options) : options_(std::move(options)) {}

  const S3Options& options() const { return options_; }
  /// The URL of an object, or of the bucket for an empty key.
  std::string url_of(const S3Path& path) const;

  absl::StatusOr<S3ObjectInfo> head(const S3Path& path);
  /// Fills `out` from `offset` on and returns the number of bytes, fewer only at the end.
  /// FailedPrecondition when the object no longer has this etag (which may be empty: any).
  absl::StatusOr<int64_t> get(const S3Path& path, int64_t offset, std::span<char> out,
                              const std::string& etag);
  absl::Status put(const S3Path& path, std::string_view bytes);
  absl::Status remove(const S3Path& path);
  /// At most 1000 keys.
  absl::Status remove_all(const std::string& bucket, const std::vector<std::string>& keys);
  /// Of an object up to 5 GiB.
  absl::Status copy(const S3Path& from, const S3Path& to);
  /// Keys from prefix.key on; with delimiter "/" what lies below a further slash is one prefix.
  absl::StatusOr<S3Listing> list(const S3Path& prefix, const std::string& delimiter, int max_keys,
                                 const std::string& continuation = "");

  /// Uploads in parts: the upload's id, then every part's etag in order.
  absl::StatusOr<std::string> start_upload(const S3Path& path);
  absl::StatusOr<std::string> upload_part(const S3Path& path, const std::string& id, int number,
                                          std::string_view bytes);
  absl::StatusOr<std::string> copy_part(const S3Path& from, const S3Path& to, const std::string& id,
                                        int number, int64_t offset, int64_t size);
  /// `size` bytes in all: tells a finished upload whose answer was lost.
  absl::Status finish_upload(const S3Path& path, const std::string& id,
                             const std::vector<std::string>& etags, int64_t size);
  absl::Status abort_upload(const S3Path& path, const std::string& id);

 private:
  struct Call;
  struct Sent;
  absl::StatusOr<HttpResponse> send(const Call& call);
  absl::StatusOr<Sent> send_once(const Call& call);
  /// True when the call may be sent again; `done` remembers what was corrected already.
  absl::StatusOr<bool> correct(const Call& call, const Sent& sent, std::string& done);
  absl::Status error_of(const Call& call, const Sent& sent) const;
  std::string region_of(const std::string& bucket) const;
  int64_t now() const;

  const S3Options options_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> regions_;  // of buckets; guarded by mutex_
  int64_t clock_offset_ = 0;                    // the server's clock minus ours; guarded by mutex_
};

}  // namespace distribute::io

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/io/impl/s3_client.ipp>
#endif
