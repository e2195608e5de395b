#pragma once
/// The requests of S3 that a file system needs.

#include <distribute/object_stores/detail/s3_transport.hpp>

namespace distribute::io {

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

/// Thread-safe. Errors are those of S3Transport, and DataLoss (a checksum).
/// Source  Amazon S3 API reference
class S3Client {
 public:
  explicit S3Client(S3Options options) : transport_(std::move(options)) {}

  const S3Options& options() const { return transport_.options(); }
  /// The URL of an object, or of the bucket for an empty key.
  std::string url_of(const S3Path& path) const { return transport_.url_of(path); }

  absl::StatusOr<S3ObjectInfo> head(const S3Path& path);
  /// Fills `out` from `offset` on and returns the number of bytes, fewer only at the end.
  /// FailedPrecondition when the object no longer has this etag (which may be empty: any).
  absl::StatusOr<int64_t> get(const S3Path& path, int64_t offset, std::span<char> out,
                              const std::string& etag);
  absl::Status put(const S3Path& path, std::string_view bytes);
  absl::Status remove(const S3Path& path);
  /// Removes at most 1000 keys.
  absl::Status remove_all(const std::string& bucket, const std::vector<std::string>& keys);
  /// Copies an object of at most 5 GiB within the store.
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
  /// `size` bytes in all. An upload whose end seems to fail, but whose object is there with this
  /// size and its parts' ETag, was finished by a try whose answer was lost, and counts as such.
  absl::Status finish_upload(const S3Path& path, const std::string& id,
                             const std::vector<std::string>& etags, int64_t size);
  absl::Status abort_upload(const S3Path& path, const std::string& id);

 private:
  S3Transport transport_;
};

class WritableFile;  // file_system.hpp, whose bodies need this header

/// Holds at most (parallel + 1) parts. Given up, so that nothing of it stays, when anything fails
/// or when it is destroyed without close().
std::unique_ptr<WritableFile> s3_writable_file(std::shared_ptr<S3Client> client, S3Path path);

/// Copies an object of any size; `size` is the source's.
absl::Status copy_s3_object(S3Client& client, const S3Path& from, const S3Path& to, int64_t size);

}  // namespace distribute::io
