#pragma once
#if !DISTRIBUTE_HAS_CURL
#include <distribute/base/config.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/http/http_client.hpp>

namespace distribute::io {

class HttpClient::Pool {};

DISTRIBUTE_INLINE HttpClient::HttpClient() = default;
DISTRIBUTE_INLINE HttpClient::~HttpClient() = default;

DISTRIBUTE_INLINE absl::StatusOr<HttpResponse> HttpClient::send(const HttpRequest& request) {
  return absl::UnimplementedError(printable_url(request.url) +
                                  ": this build has no HTTP; " DISTRIBUTE_GET_CURL);
}

DISTRIBUTE_INLINE bool has_http() { return false; }

DISTRIBUTE_INLINE HttpClient& http_client() { return in_process<HttpClient>(); }

}  // namespace distribute::io
#endif
