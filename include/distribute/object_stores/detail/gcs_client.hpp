#pragma once
/// Sends requests to Google Cloud Storage: settings, tokens, repetition, and readable errors.

#include <distribute/base/environment.hpp>
#include <distribute/http/credentials.hpp>
#include <distribute/http/http_client.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace distribute::io {

/// Options of the client. Times are in seconds.
struct GcsOptions {
  std::string endpoint = "https://storage.googleapis.com";
  bool authenticate = true;  // false for emulators
  double connect_timeout = 60, idle_timeout = 60;
  double metadata_timeout = 3600, read_timeout = 3600, write_timeout = 3600;
  int64_t read_block_bytes = 8 << 20;     // largest piece that is read ahead; 0: no reading ahead
  int64_t upload_chunk_bytes = 16 << 20;  // a multiple of 256 KiB
  std::pair<std::string, std::string> additional_header = {};
  HttpRetryPolicy retry = {};
  GoogleAuthOptions auth = {};
};

/// Reads the options from the environment: STORAGE_EMULATOR_HOST or CLOUD_STORAGE_EMULATOR_ENDPOINT
/// (an
/// emulator's host:port or URL, without tokens), and TensorFlow's GCS_READ_CACHE_BLOCK_SIZE_MB,
/// GCS_READ_CACHE_DISABLED, GCS_REQUEST_CONNECTION_TIMEOUT_SECS, GCS_REQUEST_IDLE_TIMEOUT_SECS,
/// GCS_METADATA_REQUEST_TIMEOUT_SECS, GCS_READ_REQUEST_TIMEOUT_SECS,
/// GCS_WRITE_REQUEST_TIMEOUT_SECS, GCS_ADDITIONAL_REQUEST_HEADER ("Name: value").
/// Errors  InvalidArgument for a value that cannot be understood, naming the variable.
absl::StatusOr<GcsOptions> gcs_options_from_environment(const Environment& environment = {});

/// The parts of gs://bucket/object; the object is empty for a bucket.
struct GcsPath {
  std::string path;  // the whole path, for messages
  std::string bucket, object;

  /// Gives "/b/bucket/o/object", percent-encoded; "/b/bucket/o" without an object.
  std::string resource() const;
};
/// Splits a path.
/// Errors  InvalidArgument when there is no bucket.
absl::StatusOr<GcsPath> parse_gcs_path(const std::string& path);

/// Sends requests of Google Cloud Storage. Thread-safe.
class GcsClient {
 public:
  explicit GcsClient(GcsOptions options) : options_(std::move(options)), auth_(options_.auth) {}
  const GcsOptions& options() const { return options_; }

  /// Makes a URL of the JSON interface; `service` is "/storage/v1" or "/upload/storage/v1".
  std::string url(std::string_view service, std::string_view resource,
                  const QueryParameters& query = {}) const;
  /// Sends a request with a token. It repeats requests after failures that can pass, and once with
  /// a new token when the old one is refused. With `repeats` false the caller handles failures.
  absl::StatusOr<HttpResponse> send(HttpRequest request, bool repeats = true);
  /// Gives the error that an answer means, or OK for 2xx: NotFound, PermissionDenied,
  /// Unauthenticated, FailedPrecondition (no such bucket, 412), Unavailable and others. The message
  /// has path, URL, the server's text, the request's id and a cure.
  absl::Status check(const absl::StatusOr<HttpResponse>& response, const HttpRequest& request,
                     const std::string& path) const;
  /// Calls send() and check().
  absl::StatusOr<HttpResponse> call(const HttpRequest& request, const std::string& path);

 private:
  absl::StatusOr<HttpResponse> send_once(HttpRequest& request);

  const GcsOptions options_;
  GoogleAuthProvider auth_;
};

class WritableFile;  // file_system.hpp, whose bodies need this header

/// Writes an object. It appears whole when close() succeeds and the store's checksum matches the
/// bytes, and never otherwise. Bytes that fit into one chunk are sent in one request. Larger
/// uploads are resumed at the point of failure after lost connections and failures of the store; an
/// upload that the store no longer knows counts as done if size and checksum of the object are
/// right. Destroying the file without close() cancels the upload, and nothing remains.
/// Thread-compatible.
std::unique_ptr<WritableFile> gcs_writable_file(GcsClient& client, GcsPath path);

}  // namespace distribute::io
