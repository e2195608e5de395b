#pragma once
/// Writing one object of Google Cloud Storage, in one request or in resumable pieces.

#include <distribute/io/file_system.hpp>
#include <distribute/io/gcs_client.hpp>

namespace distribute::io {

/// The object appears whole when close() succeeds and the store's checksum is that of the bytes; in
/// no other case. What fits into one chunk goes in one request. Larger ones are resumed after lost
/// connections and failures of the store where they broke off; an upload that the store no longer
/// knows counts as done when size and checksum of the object are right. Thread-compatible.
class GcsUpload final : public WritableFile {
 public:
  GcsUpload(GcsClient& client, GcsPath path);
  /// Cancels what was not closed.
  ~GcsUpload() override;
  absl::Status append(std::string_view bytes) override;
  absl::Status flush() override { return status_; }
  absl::Status sync() override { return status_; }
  absl::Status close() override;

 private:
  absl::Status start_session();
  absl::Status send_chunks(std::string_view bytes, bool last);
  HttpRequest chunk_request(std::string_view rest, int64_t end, bool last) const;
  absl::Status send_chunk(std::string_view bytes, bool last);
  absl::StatusOr<HttpResponse> ask_for_state(bool last, int64_t total);
  absl::Status take_state(const HttpResponse& response, int64_t end);
  /// True when the object has this size and the checksum of all bytes.
  bool is_stored(int64_t size);
  absl::Status send_whole();
  absl::Status check_checksum(const std::string& answer);

  GcsClient& client_;
  const GcsPath path_;
  std::string session_;    // URL; empty: nothing was sent
  std::string buffer_;     // less than a chunk
  int64_t committed_ = 0;  // bytes that the store has
  uint32_t crc_ = 0;       // of all bytes
  bool closed_ = false;
  absl::Status status_;  // the first error
};

}  // namespace distribute::io

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/io/impl/gcs_upload.ipp>
#endif
