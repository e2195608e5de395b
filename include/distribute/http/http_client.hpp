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

/// Everything but A-Z a-z 0-9 - _ . ~ becomes %XX, in capitals: the set that signatures of cloud
/// services are computed over. `keep` lists further characters that stay, such as "/".
std::string url_encode(std::string_view text, std::string_view keep = "");

/// %XX becomes its byte; what is no escape stays.
std::string url_decode(std::string_view text);

/// Names and values, not encoded.
using QueryParameters = std::vector<std::pair<std::string, std::string>>;

/// "a=1&b=" with both sides encoded, sorted by name and value as signatures demand.
std::string query_string(const QueryParameters& parameters);

/// scheme://host:port/path?query. Host without the brackets of IPv6; path and query encoded as
/// they were; port 0 where none was given.
struct Url {
  std::string scheme, host;
  int port = 0;
  std::string path, query;

  /// "host:port", or "host" without a port: what the Host header says.
  std::string authority() const;
  std::string str() const;
};

/// Errors  InvalidArgument when there is no scheme or host, or the port is no number.
absl::StatusOr<Url> parse_url(std::string_view text);

/// For messages: user names, and values of the query that are secrets, become "...".
std::string printable_url(std::string_view url);

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// The value of the first header with this name in any capitals; null when there is none.
const std::string* find_header(const HttpHeaders& headers, std::string_view name);

/// Times are in seconds. Views must live until send() has returned.
struct HttpRequest {
  std::string method = "GET";
  std::string url = {};  // http:// or https://, already encoded
  HttpHeaders headers = {};
  std::string_view body = {};
  /// In the place of `body`: fills a piece and returns its size, 0 at the end. Such a body cannot
  /// be sent a second time on a kept connection that turns out to be closed: Unavailable.
  std::function<size_t(std::span<char>)> body_reader = {};
  int64_t body_bytes = -1;  // of body_reader = {}; -1: sent in chunks
  /// The body of a 2xx answer goes here instead of into HttpResponse::body, when it is not empty.
  std::span<char> sink = {};
  double connect_timeout = 10;
  double stall_timeout = 60;  // seconds below 1 KiB/s that are an error; 0: none are
  double total_timeout = 0;   // 0: no limit
  bool follow_redirects = false;
  bool use_proxy = true;  // as http_proxy, https_proxy and no_proxy say
  bool verify_tls = true;
  std::string ca_file = {}, ca_path = {};  // empty: DISTRIBUTE_CA_FILE, else the system's
};

struct HttpResponse {  // the answer of a server
  int status = 0;      // 200, 404, ...
  HttpHeaders headers = {};
  std::string body = {};
  int64_t sink_bytes = 0;  // written to HttpRequest::sink
  int attempts = 1;        // set by send_with_retry

  /// Whether the status is one of success, 200 to 299.
  bool ok() const { return status >= 200 && status < 300; }
  /// The value of a header, or "".
  std::string header(std::string_view name) const;
  /// Where the body is nothing that a program understands: its beginning in one line, for messages.
  std::string excerpt() const;
};

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

/// Times in seconds.
/// Source  "Exponential Backoff And Jitter", AWS Architecture Blog (full jitter).
struct HttpRetryPolicy {
  int max_attempts = 6;  // the first one counts
  double base_delay = 0.2;
  double max_delay = 20;  // of one wait, also where Retry-After asks for more
  std::vector<int> statuses = {408, 429, 500, 502, 503, 504};
  std::function<void(double)> sleep = {};  // empty: this thread sleeps
  std::function<double()> random = {};     // in [0, 1); empty: the system's random numbers
};

/// Whether trying again can help: Unavailable, DeadlineExceeded, or one of the policy's statuses.
bool is_retryable(const HttpRetryPolicy& policy, const absl::StatusOr<HttpResponse>& result);

/// The wait after attempt `attempt` (1 is the first): random up to base * 2^(attempt - 1), at least
/// what Retry-After says in seconds, at most max_delay.
double retry_delay(const HttpRetryPolicy& policy, int attempt,
                   const absl::StatusOr<HttpResponse>& result);

/// Waits as the policy says.
void wait_before_retry(const HttpRetryPolicy& policy, double delay);

/// Calls `attempt` until its result is final: not retryable, and `again` (which may be empty) does
/// not ask for another try. The last result when the attempts are used up; an error then says how
/// often was tried.
absl::StatusOr<HttpResponse> send_with_retry(
    const HttpRetryPolicy& policy, const std::function<absl::StatusOr<HttpResponse>()>& attempt,
    const std::function<bool(const HttpResponse&)>& again = {});

}  // namespace distribute::io
