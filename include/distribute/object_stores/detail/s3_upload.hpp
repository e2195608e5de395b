#pragma once
/// Writes one object of S3: small ones at once, large ones in parts while they grow.

#include <distribute/object_stores/detail/s3_client.hpp>

namespace distribute::io {

class WritableFile;  // file_system.hpp, whose bodies need this header

/// Holds at most (parallel + 1) parts. Given up, so that nothing of it stays, when anything fails
/// or when it is destroyed without close().
std::unique_ptr<WritableFile> s3_writable_file(std::shared_ptr<S3Client> client, S3Path path);

/// Copies an object of any size; `size` is the source's.
absl::Status copy_s3_object(S3Client& client, const S3Path& from, const S3Path& to, int64_t size);

}  // namespace distribute::io
