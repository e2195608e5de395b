#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/metrics/detail/metrics_request.hpp>
#include <distribute/metrics/metrics_server.hpp>
#include <distribute/net/job_token.hpp>

#include <algorithm>

namespace distribute::cluster_internal {

/// Takes what stands before `end` off `text`, and `end` with it; all of it when there is none.
DISTRIBUTE_INLINE std::string_view take_until(std::string_view& text, std::string_view end) {
  const size_t at = text.find(end);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  return part;
}

DISTRIBUTE_INLINE bool equal_without_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

/// The value of the header Authorization; `lines` are those behind the request line.
DISTRIBUTE_INLINE std::string_view authorization(std::string_view lines) {
  while (!lines.empty()) {
    std::string_view line = take_until(lines, "\n");
    const std::string_view name = take_until(line, ":");
    if (equal_without_case(name, "authorization")) return untrusted::trimmed(line);
  }
  return {};
}

DISTRIBUTE_INLINE bool is_admitted(std::string_view credentials, const std::string& token) {
  if (token.empty()) return true;
  const std::string_view scheme = take_until(credentials, " ");
  return equal_without_case(scheme, "bearer") &&
         net::equal_in_constant_time(untrusted::trimmed(credentials), token);
}

DISTRIBUTE_INLINE size_t end_of_head(std::string_view bytes) {
  const size_t strict = bytes.find("\r\n\r\n"), plain = bytes.find("\n\n");
  if (strict == plain) return plain;  // neither
  return strict < plain ? strict + 4 : plain + 2;
}

DISTRIBUTE_INLINE std::string http_answer(const std::string& status,
                                          const std::string& content_type, const std::string& body,
                                          const std::string& more_headers) {
  return str_cat("HTTP/1.1 ", status, "\r\nContent-Type: ", content_type,
                 "\r\nContent-Length: ", body.size(), "\r\nConnection: close\r\n", more_headers,
                 "\r\n", body);
}

DISTRIBUTE_INLINE std::string answer_metrics_request(std::string_view head,
                                                     const std::string& token,
                                                     const std::function<std::string()>& text) {
  const auto refuse = [](const char* status, const char* why, const char* headers = "") {
    return http_answer(status, "text/plain; charset=utf-8", std::string(why) + "\n", headers);
  };
  std::string_view line = take_until(head, "\n");
  const std::string_view method = take_until(line, " "), target = take_until(line, " ");
  if (method.empty() || !target.starts_with('/') || !line.starts_with("HTTP/1."))
    return refuse("400 Bad Request", "this is no HTTP request");
  if (!is_admitted(authorization(head), token))
    return refuse("401 Unauthorized",
                  "wanted the header \"Authorization: Bearer TOKEN\"; \"distribute metrics token\" "
                  "prints the token",
                  "WWW-Authenticate: Bearer realm=\"metrics\"\r\n");
  if (target.substr(0, target.find('?')) != "/metrics")
    return refuse("404 Not Found", "there is only /metrics");
  if (method != "GET" && method != "HEAD")
    return refuse("405 Method Not Allowed", "wanted GET or HEAD", "Allow: GET, HEAD\r\n");
  std::string answer = http_answer("200 OK", monitoring::kPrometheusContentType, text());
  if (method == "HEAD") answer.resize(end_of_head(answer));
  return answer;
}

}  // namespace distribute::cluster_internal
