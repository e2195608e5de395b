#pragma once
/// One HTTP request at a time over kept connections (libcurl); what object stores stand on.

#include <distribute/http/http_message.hpp>

#include <absl/status/statusor.h>

#include <memory>

namespace distribute::io {

/// Certificates are checked against the file that DISTRIBUTE_CA_FILE names, where the request names
/// none of its own. Thread-safe; each running request has a connection of its own, kept for later
/// ones.
class HttpClient {
 public:
  HttpClient();
  HttpClient(const HttpClient&) = delete;
  ~HttpClient();

  /// Any HTTP status is a response; only what went wrong below is an error.
  /// Blocks  until the whole answer is here.
  /// Errors  Unavailable (port closed, name unknown, connection cut), DeadlineExceeded,
  ///         FailedPrecondition (certificate not accepted), InvalidArgument (URL), DataLoss (the
  ///         answer does not fit the sink), Unimplemented in a build without libcurl. Messages name
  ///         method and URL without its secrets.
  absl::StatusOr<HttpResponse> send(const HttpRequest& request);

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;
};

/// False in builds without libcurl.
bool has_http();

/// The one that file systems share; lives as long as the program.
HttpClient& http_client();

}  // namespace distribute::io
