#pragma once
/// The requests of S3 that a file system needs.

#include <distribute/object_stores/detail/s3_transport.hpp>

namespace distribute::io {

struct S3ObjectInfo {
  int64_t size = 0;
  std::string etag = {};  // includes its quotes
};

/// One page of a listing: a directory's objects and the directories below it, both as whole keys.
struct S3Listing {
  std::vector<std::string> keys, prefixes;
  std::vector<int64_t> sizes;     // size of each of `keys`
  std::string continuation = {};  // empty on the last page
};

/// Sends the requests. Thread-safe. Errors are those of S3Transport, and DataLoss (a checksum).
/// Source  Amazon S3 API reference
class S3Client {
 public:
  explicit S3Client(S3Options options) : transport_(std::move(options)) {}

  const S3Options& options() const { return transport_.options(); }
  /// The URL of an object, or of the bucket for an empty key.
  std::string url_of(const S3Path& path) const { return transport_.url_of(path); }

  absl::StatusOr<S3ObjectInfo> head(const S3Path& path);
  /// Fills `out` from `offset` on and returns the number of bytes, fewer only at the end.
  /// FailedPrecondition when the object no longer has this etag; an empty etag matches any object.
  absl::StatusOr<int64_t> get(const S3Path& path, int64_t offset, std::span<char> out,
                              const std::string& etag);
  absl::Status put(const S3Path& path, std::string_view bytes);
  absl::Status remove(const S3Path& path);
  /// Removes at most 1000 keys.
  absl::Status remove_all(const std::string& bucket, const std::vector<std::string>& keys);
  /// Copies an object of at most 5 GiB within the store.
  absl::Status copy(const S3Path& from, const S3Path& to);
  /// Lists keys from prefix.key on. With delimiter "/" all keys below a further slash become one
  /// prefix.
  absl::StatusOr<S3Listing> list(const S3Path& prefix, const std::string& delimiter, int max_keys,
                                 const std::string& continuation = "");

  /// These upload in parts: the first gives the upload's id, the second the etag of each part, in
  /// order.
  absl::StatusOr<std::string> start_upload(const S3Path& path);
  absl::StatusOr<std::string> upload_part(const S3Path& path, const std::string& id, int number,
                                          std::string_view bytes);
  absl::StatusOr<std::string> copy_part(const S3Path& from, const S3Path& to, const std::string& id,
                                        int number, int64_t offset, int64_t size);
  /// Completes an upload of `size` bytes in all. If the request seems to fail, but the object
  /// exists with this size and its parts' ETag, an earlier attempt has completed it and its answer
  /// was lost; that counts as success.
  absl::Status finish_upload(const S3Path& path, const std::string& id,
                             const std::vector<std::string>& etags, int64_t size);
  absl::Status abort_upload(const S3Path& path, const std::string& id);

 private:
  S3Transport transport_;
};

class WritableFile;  // file_system.hpp, whose bodies need this header

/// Writes an object and holds at most (parallel + 1) parts. When anything fails, or the file is
/// destroyed without close(), the upload is cancelled and nothing remains.
std::unique_ptr<WritableFile> s3_writable_file(std::shared_ptr<S3Client> client, S3Path path);

/// Copies an object of any size; `size` is the source's.
absl::Status copy_s3_object(S3Client& client, const S3Path& from, const S3Path& to, int64_t size);

}  // namespace distribute::io
