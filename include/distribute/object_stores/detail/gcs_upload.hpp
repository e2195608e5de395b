#pragma once
/// Writing one object of Google Cloud Storage, in one request or in resumable pieces.

#include <distribute/object_stores/detail/gcs_client.hpp>

#include <memory>

namespace distribute::io {

class WritableFile;  // file_system.hpp, whose bodies need this header

/// The object appears whole when close() succeeds and the store's checksum is that of the bytes; in
/// no other case. What fits into one chunk goes in one request. Larger ones are resumed after lost
/// connections and failures of the store where they broke off; an upload that the store no longer
/// knows counts as done when size and checksum of the object are right. Given up, so that
/// nothing of it stays, when it is destroyed without close(). Thread-compatible.
std::unique_ptr<WritableFile> gcs_writable_file(GcsClient& client, GcsPath path);

}  // namespace distribute::io
