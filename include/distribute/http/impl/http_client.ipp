#pragma once
#if DISTRIBUTE_HAS_CURL
#include <distribute/base/environment.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/http/http_client.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/base/threads.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <curl/curl.h>

namespace distribute::io_internal {

struct CurlCloser {
  void operator()(CURL* handle) const { ::curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { ::curl_slist_free_all(list); }
};
using CurlHandle = std::unique_ptr<CURL, CurlCloser>;
using CurlList = std::unique_ptr<curl_slist, CurlCloser>;

/// The data of one request that libcurl's callbacks use.
struct HttpTransfer {
  const io::HttpRequest& request;
  io::HttpResponse response;
  size_t body_sent = 0;
  bool overflow = false;
};

/// Reads a header. A new status line begins a new answer, after a redirect or a "100 Continue".
DISTRIBUTE_INLINE size_t on_http_header(char* data, size_t, size_t size, void* user) {
  HttpTransfer& transfer = *static_cast<HttpTransfer*>(user);
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {
    const size_t space = line.find(' ');
    transfer.response.headers.clear();
    transfer.response.status =
        space == std::string_view::npos ? 0 : std::atoi(std::string(line.substr(space)).c_str());
    return size;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  const size_t value = std::min(line.find_first_not_of(" \t", colon + 1), line.size());
  transfer.response.headers.emplace_back(line.substr(0, colon), line.substr(value));
  return size;
}

/// Takes a part of the body; returning anything but `size` ends the transfer.
DISTRIBUTE_INLINE size_t on_http_body(char* data, size_t, size_t size, void* user) {
  constexpr size_t kLargestBodyBytes = 256 << 20;
  HttpTransfer& transfer = *static_cast<HttpTransfer*>(user);
  io::HttpResponse& response = transfer.response;
  const std::span<char> sink = transfer.request.sink;
  const bool into_sink = response.ok() && !sink.empty();
  const size_t room = into_sink ? sink.size() - size_t(response.sink_bytes)
                                : kLargestBodyBytes - response.body.size();
  transfer.overflow = size > room;
  if (transfer.overflow) return 0;
  if (into_sink) {
    std::memcpy(sink.data() + response.sink_bytes, data, size);
    response.sink_bytes += int64_t(size);
  } else {
    response.body.append(data, size);
  }
  return size;
}

DISTRIBUTE_INLINE size_t give_http_body(char* out, size_t, size_t size, void* user) {
  HttpTransfer& transfer = *static_cast<HttpTransfer*>(user);
  if (transfer.request.body_reader) return transfer.request.body_reader({out, size});
  const size_t count = transfer.request.body.copy(out, size, transfer.body_sent);
  transfer.body_sent += count;
  return count;
}

/// libcurl calls it to send a body again when a kept connection turns out to be closed.
DISTRIBUTE_INLINE int rewind_http_body(void* user, curl_off_t offset, int) {
  HttpTransfer& transfer = *static_cast<HttpTransfer*>(user);
  if (transfer.request.body_reader) return CURL_SEEKFUNC_CANTSEEK;
  transfer.body_sent = size_t(offset);
  return CURL_SEEKFUNC_OK;
}

template <typename Value>
concept CurlOption =
    std::is_pointer_v<Value> || std::is_same_v<Value, long> || std::is_same_v<Value, curl_off_t>;

/// Sets one option; the type is the one that libcurl's variable arguments expect.
template <CurlOption Value>
void set_curl(CURL* handle, CURLoption option, Value value) {
  ::curl_easy_setopt(handle, option, value);
}

DISTRIBUTE_INLINE void set_curl_limits(CURL* handle, const io::HttpRequest& request) {
  constexpr long kLowestBytesPerSecond = 1024;
  set_curl(handle, CURLOPT_NOSIGNAL, 1L);
  set_curl(handle, CURLOPT_CONNECTTIMEOUT_MS, long(request.connect_timeout * 1000));
  set_curl(handle, CURLOPT_TIMEOUT_MS, long(request.total_timeout * 1000));
  set_curl(handle, CURLOPT_LOW_SPEED_LIMIT, kLowestBytesPerSecond);
  const double seconds = request.stall_timeout;  // libcurl counts whole seconds
  set_curl(handle, CURLOPT_LOW_SPEED_TIME, seconds > 0 ? std::max(1L, long(seconds)) : 0L);
}

DISTRIBUTE_INLINE void set_curl_connection(CURL* handle, const io::HttpRequest& request) {
  constexpr long kBufferBytes = 512 << 10;
  set_curl(handle, CURLOPT_BUFFERSIZE, kBufferBytes);
  set_curl(handle, CURLOPT_UPLOAD_BUFFERSIZE, kBufferBytes);
  set_curl(handle, CURLOPT_HTTP_VERSION, long(CURL_HTTP_VERSION_1_1));
  set_curl(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  set_curl(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  set_curl(handle, CURLOPT_FOLLOWLOCATION, request.follow_redirects ? 1L : 0L);
  set_curl(handle, CURLOPT_MAXREDIRS, 5L);
  if (!request.use_proxy) set_curl(handle, CURLOPT_NOPROXY, "*");
  if (!request.verify_tls) {
    set_curl(handle, CURLOPT_SSL_VERIFYPEER, 0L);
    set_curl(handle, CURLOPT_SSL_VERIFYHOST, 0L);
  }
  const std::string ca_file =
      request.ca_file.empty() ? Environment().text("DISTRIBUTE_CA_FILE") : request.ca_file;
  if (!ca_file.empty()) set_curl(handle, CURLOPT_CAINFO, ca_file.c_str());
  if (!request.ca_path.empty()) set_curl(handle, CURLOPT_CAPATH, request.ca_path.c_str());
}

DISTRIBUTE_INLINE void set_curl_method(CURL* handle, HttpTransfer& transfer) {
  const io::HttpRequest& request = transfer.request;
  const bool uploads = request.body_reader || !request.body.empty() || request.method == "PUT" ||
                       request.method == "POST";
  if (uploads) {
    const curl_off_t size =
        request.body_reader ? request.body_bytes : curl_off_t(request.body.size());
    set_curl(handle, CURLOPT_UPLOAD, 1L);
    set_curl(handle, CURLOPT_INFILESIZE_LARGE, size);
    set_curl(handle, CURLOPT_READFUNCTION, &give_http_body);
    set_curl(handle, CURLOPT_READDATA, &transfer);
    set_curl(handle, CURLOPT_SEEKFUNCTION, &rewind_http_body);
    set_curl(handle, CURLOPT_SEEKDATA, &transfer);
  }
  if (request.method == "HEAD") set_curl(handle, CURLOPT_NOBODY, 1L);
  if (request.method != "GET" && request.method != "HEAD")
    set_curl(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

/// Makes the headers without "Expect: 100-continue", which costs a round trip, or a second if the
/// server does not support it.
DISTRIBUTE_INLINE CurlList curl_headers(const io::HttpRequest& request) {
  CurlList list(::curl_slist_append(nullptr, "Expect:"));
  for (const auto& [name, value] : request.headers) {
    const std::string line = value.empty() ? name + ";" : name + ": " + value;
    list.reset(::curl_slist_append(list.release(), line.c_str()));
  }
  return list;
}

DISTRIBUTE_INLINE StatusCode code_of_curl(CURLcode code) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT: return StatusCode::DeadlineExceeded;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_TOO_MANY_REDIRECTS: return StatusCode::FailedPrecondition;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return StatusCode::InvalidArgument;
    case CURLE_OUT_OF_MEMORY: return StatusCode::ResourceExhausted;
    default: return StatusCode::Unavailable;
  }
}

DISTRIBUTE_INLINE const char* cure_of_curl(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST: return "; check the name of the endpoint and this host's DNS";
    case CURLE_COULDNT_RESOLVE_PROXY: return "; check http_proxy, https_proxy and no_proxy";
    case CURLE_COULDNT_CONNECT: return "; check the endpoint's address and port, and firewalls";
    case CURLE_OPERATION_TIMEDOUT:
      return "; the server or the network is too slow, or a firewall "
             "drops packets";
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return "; name the file of its certificate authority in DISTRIBUTE_CA_FILE (for s3:// "
             "S3_CA_FILE and AWS_CA_BUNDLE go first), or check that the endpoint is the right one";
    case CURLE_SSL_CONNECT_ERROR: return "; does the server speak https on this port?";
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR: return "; the connection was cut";
    default: return "";
  }
}

DISTRIBUTE_INLINE absl::Status http_failure(const HttpTransfer& transfer, CURLcode code,
                                            const char* detail) {
  const std::string what =
      str_cat(transfer.request.method, " ", io::printable_url(transfer.request.url), ": ");
  if (transfer.overflow)
    return make_status(StatusCode::DataLoss,
                       str_cat(what, "the server sent more than the ", transfer.request.sink.size(),
                               " bytes that were asked for"));
  const char* reason = *detail ? detail : ::curl_easy_strerror(code);
  return make_status(code_of_curl(code), str_cat(what, reason, cure_of_curl(code)));
}

}  // namespace distribute::io_internal

namespace distribute::io {

/// Keeps idle handles, each with its open connections.
class HttpClient::Pool {
 public:
  io_internal::CurlHandle take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return io_internal::CurlHandle(::curl_easy_init());
    io_internal::CurlHandle handle = std::move(idle_.back());
    idle_.pop_back();
    return handle;
  }
  void give_back(io_internal::CurlHandle handle) {
    ::curl_easy_reset(handle.get());  // keeps connections and resolved names
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(handle));
  }

 private:
  std::mutex mutex_;
  std::vector<io_internal::CurlHandle> idle_;  // guarded by mutex_
};

DISTRIBUTE_INLINE HttpClient::HttpClient() {
  static const CURLcode started = ::curl_global_init(CURL_GLOBAL_DEFAULT);  // not thread-safe
  if (started == CURLE_OK) pool_ = std::make_unique<Pool>();
}

DISTRIBUTE_INLINE HttpClient::~HttpClient() = default;

DISTRIBUTE_INLINE absl::StatusOr<HttpResponse> HttpClient::send(const HttpRequest& request) {
  io_internal::CurlHandle handle = pool_ ? pool_->take() : nullptr;
  if (!handle) return make_status(StatusCode::ResourceExhausted, "libcurl could not start");
  char detail[CURL_ERROR_SIZE] = "";
  io_internal::HttpTransfer transfer{.request = request, .response = {}};
  const io_internal::CurlList headers = io_internal::curl_headers(request);
  io_internal::set_curl(handle.get(), CURLOPT_URL, request.url.c_str());
  io_internal::set_curl(handle.get(), CURLOPT_ERRORBUFFER, &detail[0]);
  io_internal::set_curl(handle.get(), CURLOPT_HTTPHEADER, headers.get());
  io_internal::set_curl(handle.get(), CURLOPT_HEADERFUNCTION, &io_internal::on_http_header);
  io_internal::set_curl(handle.get(), CURLOPT_HEADERDATA, &transfer);
  io_internal::set_curl(handle.get(), CURLOPT_WRITEFUNCTION, &io_internal::on_http_body);
  io_internal::set_curl(handle.get(), CURLOPT_WRITEDATA, &transfer);
  io_internal::set_curl_limits(handle.get(), request);
  io_internal::set_curl_connection(handle.get(), request);
  io_internal::set_curl_method(handle.get(), transfer);
  const base_internal::PipeSignalBlock blocked;  // OpenSSL's writes do not use MSG_NOSIGNAL
  const CURLcode code = ::curl_easy_perform(handle.get());
  pool_->give_back(std::move(handle));
  if (code != CURLE_OK) return io_internal::http_failure(transfer, code, detail);
  return std::move(transfer.response);
}

DISTRIBUTE_INLINE bool has_http() { return true; }

// Files that are closed at the program's end still use the client.
DISTRIBUTE_INLINE HttpClient& http_client() { return in_process<HttpClient>(); }

}  // namespace distribute::io
#endif
