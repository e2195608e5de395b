#pragma once
/// Answers HTTP requests for metrics.

#include <distribute/base/config.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace distribute::cluster_internal {

inline constexpr size_t kMostRequestBytes = 8192;

/// Returns the end of the request's head in `bytes`, behind its empty line; npos while it is
/// incomplete.
size_t end_of_head(std::string_view bytes);

/// Returns the whole answer to a request with this head: GET and HEAD of /metrics with the token
/// (`Authorization: Bearer <token>`; an empty token admits every client) give `text()`, all other
/// requests 400, 401, 404 or 405. The connection ends with the answer.
std::string answer_metrics_request(std::string_view head, const std::string& token,
                                   const std::function<std::string()>& text);

/// Makes an answer with a status line such as "431 Request Header Fields Too Large".
std::string http_answer(const std::string& status, const std::string& content_type,
                        const std::string& body, const std::string& more_headers = "");

}  // namespace distribute::cluster_internal
