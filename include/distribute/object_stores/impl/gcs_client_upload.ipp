#pragma once
#include <distribute/base/json.hpp>
#include <distribute/object_stores/detail/gcs_client.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/compression.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <absl/strings/escaping.h>
#include <nlohmann/json.hpp>

namespace distribute::io_internal {

/// Encodes the checksum as Google does: base 64 of the four bytes, the highest first.
DISTRIBUTE_INLINE std::string gcs_checksum(uint32_t crc) {
  const char bytes[] = {char(crc >> 24), char(crc >> 16), char(crc >> 8), char(crc)};
  return absl::Base64Escape(absl::string_view(bytes, 4));
}

/// Parses "bytes=0-41" to 42 bytes; without a header to 0, and anything else to -1.
DISTRIBUTE_INLINE int64_t committed_bytes(const std::string& range) {
  if (range.empty()) return 0;
  const size_t dash = range.find('-');
  if (dash == std::string::npos || dash + 1 == range.size()) return -1;
  return std::atoll(range.c_str() + dash + 1) + 1;
}

class GcsWritableFile final : public io::WritableFile {
 public:
  GcsWritableFile(io::GcsClient& client, io::GcsPath path);
  /// Cancels an upload that was not closed.
  DISTRIBUTE_INLINE ~GcsWritableFile() override;
  DISTRIBUTE_INLINE absl::Status append(std::string_view bytes) override;
  absl::Status flush() override { return status_; }
  absl::Status sync() override { return status_; }
  DISTRIBUTE_INLINE absl::Status close() override;

 private:
  absl::Status start_session();
  absl::Status send_chunks(std::string_view bytes, bool last);
  io::HttpRequest chunk_request(std::string_view rest, int64_t end, bool last) const;
  absl::Status send_chunk(std::string_view bytes, bool last);
  absl::StatusOr<io::HttpResponse> ask_for_state(bool last, int64_t total);
  absl::Status take_state(const io::HttpResponse& response, int64_t end);
  /// True when the object has this size and the checksum of all bytes.
  bool is_stored(int64_t size);
  absl::Status send_whole();
  absl::Status check_checksum(const std::string& answer);

  io::GcsClient& client_;
  const io::GcsPath path_;
  std::string session_;    // URL; empty before the first request
  std::string buffer_;     // fewer bytes than a chunk
  int64_t committed_ = 0;  // number of bytes that the store has
  uint32_t crc_ = 0;       // checksum of all bytes
  bool closed_ = false;
  absl::Status status_;  // the first error
};

DISTRIBUTE_INLINE GcsWritableFile::GcsWritableFile(io::GcsClient& client, io::GcsPath path)
    : client_(client), path_(std::move(path)) {}

DISTRIBUTE_INLINE GcsWritableFile::~GcsWritableFile() {
  if (closed_ || session_.empty()) return;
  client_.send({.method = "DELETE", .url = session_}, false).IgnoreError();
}

DISTRIBUTE_INLINE absl::Status GcsWritableFile::append(std::string_view bytes) {
  if (closed_)
    return make_status(StatusCode::FailedPrecondition, path_.path + ": the file is closed");
  if (!status_.ok()) return status_;
  crc_ = io::crc32c_extend(crc_, bytes);
  const size_t chunk = size_t(client_.options().upload_chunk_bytes);
  if (!buffer_.empty()) {
    const size_t count = std::min(chunk - buffer_.size(), bytes.size());
    buffer_.append(bytes.substr(0, count));
    bytes.remove_prefix(count);
  }
  // A chunk is kept until more bytes come, because the last chunk must be marked.
  if (buffer_.size() == chunk && !bytes.empty()) {
    status_ = send_chunks(buffer_, false);
    buffer_.clear();
  }
  if (status_.ok() && bytes.size() > chunk) {
    const size_t whole = (bytes.size() - 1) / chunk * chunk;
    status_ = send_chunks(bytes.substr(0, whole), false);
    bytes.remove_prefix(whole);
  }
  if (status_.ok()) buffer_.append(bytes);
  return status_;
}

DISTRIBUTE_INLINE absl::Status GcsWritableFile::close() {
  if (closed_) return absl::OkStatus();
  // Some emulators cannot take an empty body in one request.
  const bool whole = session_.empty() && !buffer_.empty();
  if (status_.ok()) status_ = whole ? send_whole() : send_chunks(buffer_, true);
  closed_ = status_.ok();
  if (closed_) std::string().swap(buffer_);
  return status_;
}

DISTRIBUTE_INLINE absl::Status GcsWritableFile::send_whole() {
  const io::GcsPath bucket{path_.path, path_.bucket, ""};
  const io::HttpRequest request{
      .method = "POST",
      .url = client_.url("/upload/storage/v1", bucket.resource(),
                         {{"name", path_.object}, {"uploadType", "media"}}),
      .headers = {{"Content-Type", "application/octet-stream"}},
      .body = buffer_,
      .total_timeout = client_.options().write_timeout};
  const auto response = client_.call(request, path_.path);
  return response.ok() ? check_checksum(response->body) : response.status();
}

DISTRIBUTE_INLINE absl::Status GcsWritableFile::start_session() {
  const io::GcsPath bucket{path_.path, path_.bucket, ""};
  const io::HttpRequest request{
      .method = "POST",
      .url = client_.url("/upload/storage/v1", bucket.resource(),
                         {{"name", path_.object}, {"uploadType", "resumable"}}),
      .headers = {{"X-Upload-Content-Type", "application/octet-stream"}}};
  const auto response = client_.call(request, path_.path);
  if (!response.ok()) return response.status();
  session_ = response->header("Location");
  if (!session_.empty()) return absl::OkStatus();
  return make_status(StatusCode::Internal,
                     str_cat(path_.path, ": ", io::printable_url(request.url),
                             ": the answer names no Location for the upload"));
}

DISTRIBUTE_INLINE absl::Status GcsWritableFile::send_chunks(std::string_view bytes, bool last) {
  if (session_.empty()) {
    const absl::Status status = start_session();
    if (!status.ok()) return status;
  }
  const size_t chunk = size_t(client_.options().upload_chunk_bytes);
  do {
    const std::string_view now = bytes.substr(0, chunk);
    bytes.remove_prefix(now.size());
    const absl::Status status = send_chunk(now, last && bytes.empty());
    if (!status.ok()) return status;
  } while (!bytes.empty());
  return absl::OkStatus();
}

/// Asks how many bytes have arrived: the answer is "308 Resume Incomplete" with a range, or the
/// finished object.
DISTRIBUTE_INLINE absl::StatusOr<io::HttpResponse> GcsWritableFile::ask_for_state(bool last,
                                                                                  int64_t total) {
  const std::string range = last ? str_cat("bytes */", total) : "bytes */*";
  return client_.send({.method = "PUT", .url = session_, .headers = {{"Content-Range", range}}});
}

DISTRIBUTE_INLINE absl::Status GcsWritableFile::take_state(const io::HttpResponse& response,
                                                           int64_t end) {
  const int64_t there = io_internal::committed_bytes(response.header("Range"));
  if (there < committed_ || there > end)
    return make_status(
        StatusCode::Internal,
        str_cat(path_.path, ": the store says it has '", response.header("Range"), "', but ",
                committed_, " bytes were there before and ", end, " have been sent; save again"));
  committed_ = there;
  return absl::OkStatus();
}

/// Whether the object is complete. A session also ends when its last chunk has arrived and only the
/// answer was lost.
DISTRIBUTE_INLINE bool GcsWritableFile::is_stored(int64_t size) {
  const auto response = client_.send({.url = client_.url("/storage/v1", path_.resource())});
  if (!response.ok() || !response->ok()) return false;
  const auto json = json_of(response->body);
  const auto says = [&json](const char* name, const std::string& wanted) {
    return json.is_object() && json.contains(name) && json[name] == wanted;
  };
  return says("size", str_cat(size)) && says("crc32c", io_internal::gcs_checksum(crc_));
}

/// Makes the request for the bytes `rest`, which end at `end`; with the last bytes that is the
/// object's end.
DISTRIBUTE_INLINE io::HttpRequest GcsWritableFile::chunk_request(std::string_view rest, int64_t end,
                                                                 bool last) const {
  const std::string from = rest.empty() ? "*" : str_cat(committed_, "-", end - 1);
  return {.method = "PUT",
          .url = session_,
          .headers = {{"Content-Range", str_cat("bytes ", from, "/", last ? str_cat(end) : "*")}},
          .body = rest,
          .total_timeout = client_.options().write_timeout};
}

/// Sends until the store has all bytes; the attempts are counted again whenever more bytes have
/// arrived.
DISTRIBUTE_INLINE absl::Status GcsWritableFile::send_chunk(std::string_view bytes, bool last) {
  const int64_t begin = committed_, end = begin + int64_t(bytes.size());
  const io::HttpRetryPolicy& retry = client_.options().retry;
  for (int attempt = 1;;) {
    const auto request = chunk_request(bytes.substr(size_t(committed_ - begin)), end, last);
    auto response = client_.send(request, false);
    const bool failed = is_retryable(retry, response);
    const double delay = failed ? retry_delay(retry, attempt, response) : 0;
    if (failed && attempt < retry.max_attempts) {
      io::wait_before_retry(retry, delay);
      response = ask_for_state(last, end);
    }
    const int64_t before = committed_;
    const bool expired = response.ok() && (response->status == 404 || response->status == 410);
    if (expired && last && is_stored(end)) {
      session_.clear();
      committed_ = end;
      return absl::OkStatus();
    }
    if (expired && end == int64_t(bytes.size()) && committed_ == 0) {  // nothing is lost
      const absl::Status status = start_session();
      if (!status.ok()) return status;
    } else if (response.ok() && response->status == 308) {
      const absl::Status status = take_state(*response, end);
      if (!status.ok()) return status;
      if (committed_ == end && !last) return status;
    } else {
      const absl::Status status = client_.check(response, request, path_.path);
      if (!status.ok()) return status;
      committed_ = end;
      return check_checksum(response->body);
    }
    attempt = committed_ > before ? 1 : attempt + 1;
    if (attempt > retry.max_attempts)
      return make_status(
          StatusCode::Unavailable,
          str_cat(path_.path, ": ", io::printable_url(session_), ": the store takes no ",
                  "more than ", committed_, " bytes; tried ", attempt - 1, " times"));
  }
}

/// Compares the checksum; a store that gives none is trusted.
DISTRIBUTE_INLINE absl::Status GcsWritableFile::check_checksum(const std::string& answer) {
  session_.clear();  // the session has ended
  const auto json = json_of(answer);
  const auto found = json.is_object() ? json.find("crc32c") : json.end();
  const std::string wanted = io_internal::gcs_checksum(crc_);
  if (!json.is_object() || found == json.end() || *found == wanted) return absl::OkStatus();
  client_.send({.method = "DELETE", .url = client_.url("/storage/v1", path_.resource())})
      .IgnoreError();
  return make_status(StatusCode::DataLoss,
                     str_cat(path_.path, ": the store has the checksum ", found->dump(),
                             ", sent was ", wanted, "; the object was removed: save again"));
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE std::unique_ptr<WritableFile> gcs_writable_file(GcsClient& client, GcsPath path) {
  return std::make_unique<io_internal::GcsWritableFile>(client, std::move(path));
}

}  // namespace distribute::io
