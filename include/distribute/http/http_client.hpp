#pragma once
/// HTTP requests with retries.

#include <distribute/base/config.hpp>

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace distribute::io {

/// Replaces everything but A-Z a-z 0-9 - _ . ~ by %XX in capitals, as signatures of cloud services
/// require. `keep` lists further characters that stay, such as "/".
std::string url_encode(std::string_view text, std::string_view keep = "");

/// Replaces %XX by its byte; all other text stays.
std::string url_decode(std::string_view text);

/// Parameters of the query of a URL, as names and values without percent-encoding.
using QueryParameters = std::vector<std::pair<std::string, std::string>>;

/// Gives "a=1&b=" with both sides encoded, sorted by name and value as signatures require.
std::string query_string(const QueryParameters& parameters);

/// The parts of scheme://host:port/path?query. The host has no IPv6 brackets; path and query stay
/// encoded; the port is 0 if none was given.
struct Url {
  std::string scheme, host;
  int port = 0;
  std::string path, query;

  /// Gives "host:port", or "host" without a port, as in the Host header.
  std::string authority() const;
  std::string str() const;
};

/// Errors  InvalidArgument when there is no scheme or host, or the port is no number.
absl::StatusOr<Url> parse_url(std::string_view text);

/// Gives the URL for messages: user names, and secret values of the query, become "..."; control
/// characters are escaped, and 512 bytes are shown at most.
std::string printable_url(std::string_view url);

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// Returns the value of the first header with this name, compared without case; null when there is
/// none.
const std::string* find_header(const HttpHeaders& headers, std::string_view name);

/// Times are in seconds. Views must live until send() has returned.
struct HttpRequest {
  std::string method = "GET";
  std::string url = {};  // http:// or https://, already encoded
  HttpHeaders headers = {};
  std::string_view body = {};
  /// Gives the body in pieces in place of `body`: it fills a piece and returns its size, 0 at the
  /// end. Such a body cannot be sent a second time; if a kept connection turns out to be closed,
  /// the request fails with Unavailable.
  std::function<size_t(std::span<char>)> body_reader = {};
  int64_t body_bytes = -1;  // size of body_reader's body; -1: sent in chunks
  /// If it is not empty, the body of a 2xx answer is written here instead of to HttpResponse::body.
  std::span<char> sink = {};
  double connect_timeout = 10;
  double stall_timeout = 60;  // seconds below 1 KiB/s before an error; 0: no limit
  double total_timeout = 0;   // 0: no limit
  bool follow_redirects = false;
  bool use_proxy = true;  // of http_proxy, https_proxy and no_proxy
  bool verify_tls = true;
  std::string ca_file = {}, ca_path = {};  // empty: DISTRIBUTE_CA_FILE, else the system's
};

struct HttpResponse {  // the answer of a server
  int status = 0;      // 200, 404, ...
  HttpHeaders headers = {};
  std::string body = {};
  int64_t sink_bytes = 0;  // number of bytes written to HttpRequest::sink
  int attempts = 1;        // set by send_with_retry

  /// Returns whether the status means success, 200 to 299.
  bool ok() const { return status >= 200 && status < 300; }
  /// Returns the value of a header, or "".
  std::string header(std::string_view name) const;
  /// Returns the beginning of a body in one line, for messages about answers that a program cannot
  /// parse.
  std::string excerpt() const;
};

/// Sends requests. Certificates are checked against the file that DISTRIBUTE_CA_FILE names, unless
/// the request names its own. Thread-safe; each running request has its own connection, which is
/// kept for later requests.
class HttpClient {
 public:
  HttpClient();
  HttpClient(const HttpClient&) = delete;
  ~HttpClient();

  /// Sends a request. Any HTTP status is a response; errors are failures below HTTP.
  /// Blocks  until the whole answer is here.
  /// Errors  Unavailable (port closed, name unknown, connection cut), DeadlineExceeded,
  ///         FailedPrecondition (certificate not accepted), InvalidArgument (URL), DataLoss (the
  ///         answer does not fit into the sink), Unimplemented in a build without libcurl. Messages
  ///         name the method and the URL without its secrets.
  absl::StatusOr<HttpResponse> send(const HttpRequest& request);

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;
};

/// False in builds without libcurl.
bool has_http();

/// Returns the client that file systems share; it lives as long as the program.
HttpClient& http_client();

/// Number and pace of the repetitions of a request. Times are in seconds.
/// Source  "Exponential Backoff And Jitter", AWS Architecture Blog (full jitter).
struct HttpRetryPolicy {
  int max_attempts = 6;  // number of attempts, the first included
  double base_delay = 0.2;
  double max_delay = 20;  // limit of one wait, also when Retry-After asks for more
  std::vector<int> statuses = {408, 429, 500, 502, 503, 504};
  std::function<void(double)> sleep = {};  // empty: this thread sleeps
  std::function<double()> random = {};     // in [0, 1); empty: the system's random numbers
};

/// Returns whether trying again can help: Unavailable, DeadlineExceeded, or one of the policy's
/// statuses.
bool is_retryable(const HttpRetryPolicy& policy, const absl::StatusOr<HttpResponse>& result);

/// Returns the wait after attempt `attempt` (1 is the first): a random time up to base * 2^(attempt
/// - 1), at least the seconds of Retry-After, at most max_delay.
double retry_delay(const HttpRetryPolicy& policy, int attempt,
                   const absl::StatusOr<HttpResponse>& result);

/// Waits with the policy's `sleep`.
void wait_before_retry(const HttpRetryPolicy& policy, double delay);

/// Calls `attempt` until its result is final: it is not retryable, and `again` (which may be empty)
/// does not ask for another try. Returns the last result when the attempts are used up; an error
/// then says how many attempts were made.
absl::StatusOr<HttpResponse> send_with_retry(
    const HttpRetryPolicy& policy, const std::function<absl::StatusOr<HttpResponse>()>& attempt,
    const std::function<bool(const HttpResponse&)>& again = {});

}  // namespace distribute::io
