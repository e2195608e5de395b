#pragma once
/// What goes to an HTTP server and what comes back.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace distribute::io {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// The value of the first header with this name in any capitals; null when there is none.
const std::string* find_header(const HttpHeaders& headers, std::string_view name);

/// Times in seconds. Views must live until send() has returned.
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

}  // namespace distribute::io
