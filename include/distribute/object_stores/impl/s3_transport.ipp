#pragma once
#include <distribute/object_stores/detail/s3_transport.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/object_stores/detail/xml.hpp>

#include <absl/time/clock.h>
#include <absl/time/time.h>

#include <utility>

namespace distribute::io_internal {

/// Parses the Date header to seconds since 1970, or 0.
DISTRIBUTE_INLINE int64_t http_date(const io::HttpResponse& response) {
  absl::Time time;
  std::string error;
  const std::string text = response.header("Date");
  if (!absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", text, &time, &error)) return 0;
  return absl::ToUnixSeconds(time);
}

/// Whether the bucket's name can be a part of a host name.
DISTRIBUTE_INLINE bool is_host_label(const std::string& bucket) {
  return bucket.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

}  // namespace distribute::io_internal

namespace distribute::io {

struct S3Transport::Sent {
  HttpResponse response;
  AwsCredentials credentials;
  bool fine;
};

DISTRIBUTE_INLINE absl::StatusOr<S3Path> parse_s3_path(std::string_view path) {
  const bool s3 = scheme_of(path) == "s3";
  const std::string_view rest = s3 ? path.substr(5) : "";
  S3Path result{.bucket = std::string(rest.substr(0, rest.find('/'))), .key = {}};
  if (result.bucket.size() < rest.size()) result.key = rest.substr(result.bucket.size() + 1);
  if (!result.bucket.empty()) return result;
  return make_status(StatusCode::InvalidArgument,
                     str_cat("'", path, "' should look like s3://bucket/key"));
}

DISTRIBUTE_INLINE std::string S3Transport::region_of(const std::string& bucket) const {
  const std::lock_guard lock(mutex_);
  const auto found = regions_.find(bucket);
  return found == regions_.end() ? options_.region : found->second;
}

DISTRIBUTE_INLINE int64_t S3Transport::now() const {
  const std::lock_guard lock(mutex_);
  return absl::ToUnixSeconds(absl::Now()) + clock_offset_;
}

DISTRIBUTE_INLINE std::string S3Transport::url_of(const S3Path& path) const {
  const std::string key = url_encode(path.key, "/");
  if (!options_.endpoint.empty())
    return str_cat(options_.endpoint, "/", url_encode(path.bucket), "/", key);
  const std::string region = region_of(path.bucket);
  const std::string host =
      str_cat("s3.", region, ".amazonaws.com", region.starts_with("cn-") ? ".cn" : "");
  if (options_.path_style || !io_internal::is_host_label(path.bucket))
    return str_cat("https://", host, "/", url_encode(path.bucket), "/", key);
  return str_cat("https://", path.bucket, ".", host, "/", key);
}

DISTRIBUTE_INLINE absl::StatusOr<S3Transport::Sent> S3Transport::send_once(const S3Call& call) {
  if (!has_xml()) return parse_xml("").status();  // says what to install
  Sent sent{};
  if (options_.credentials) {
    auto found = options_.credentials->get();
    if (!found.ok()) return found.status();
    sent.credentials = *found;
  }
  const std::string query = query_string(call.query);
  HttpRequest request{
      .method = call.method,
      .url = url_of(call.path) + (query.empty() ? "" : "?" + query),
      .headers = call.headers,
      .body = call.body,
      .sink = call.sink,
      .connect_timeout = options_.connect_timeout,
      .stall_timeout = call.stall_timeout > 0 ? call.stall_timeout : options_.stall_timeout,
      .verify_tls = options_.verify_tls,
      .ca_file = options_.ca_file,
      .ca_path = options_.ca_path};
  // Under TLS the transport protects the body already, and hashing it would take as long again.
  const bool unsigned_body = request.url.starts_with("https://") && !call.body.empty();
  const absl::Status status = sign_aws_request(
      request, sent.credentials,
      {.region = region_of(call.path.bucket),
       .time = now(),
       .payload_hash = unsigned_body ? "UNSIGNED-PAYLOAD" : aws_payload_hash(call.body)});
  if (!status.ok()) return status;
  auto response = http_client().send(request);
  if (!response.ok()) return response.status();
  sent.response = *std::move(response);
  sent.fine = sent.response.ok() && (!call.error_in_body || s3_error(sent.response).code.empty());
  return sent;
}

DISTRIBUTE_INLINE absl::StatusOr<bool> S3Transport::correct(const S3Call& call, const Sent& sent,
                                                            std::string& done) {
  const S3Error error = s3_error(sent.response);
  const auto first_time = [&](char what) {
    return done.find(what) == std::string::npos && (done += what, true);
  };
  if (says_expired(error) && options_.credentials && first_time('c')) {
    auto fresh = options_.credentials->renew(sent.credentials);
    if (!fresh.ok()) return fresh.status();
    return fresh->access_key_id != sent.credentials.access_key_id ||
           fresh->session_token != sent.credentials.session_token;
  }
  const int64_t theirs = io_internal::http_date(sent.response);
  if (error.code == "RequestTimeTooSkewed" && theirs != 0 && first_time('t')) {
    const std::lock_guard lock(mutex_);
    clock_offset_ = theirs - absl::ToUnixSeconds(absl::Now());
    return true;
  }
  const int status = sent.response.status;
  const bool elsewhere =
      status == 301 || status == 307 || error.code == "AuthorizationHeaderMalformed";
  if (!elsewhere || error.region.empty() || error.region == region_of(call.path.bucket) ||
      !first_time('r'))
    return false;
  const std::lock_guard lock(mutex_);
  regions_[call.path.bucket] = error.region;
  return true;
}

DISTRIBUTE_INLINE absl::StatusOr<HttpResponse> S3Transport::send(const S3Call& call) {
  std::string corrected;
  Sent sent{};
  const auto attempt = [&]() -> absl::StatusOr<HttpResponse> {
    while (true) {
      auto now = send_once(call);
      if (!now.ok()) return now.status();
      const int status = now->response.status;
      if (call.method == "HEAD" && status >= 300 && status < 500 && status != 404) {
        // An answer to HEAD does not contain the error; an answer to GET does.
        S3Call probe = call;
        probe.method = "GET";
        probe.headers.emplace_back("Range", "bytes=0-0");
        auto answer = send_once(probe);
        if (answer.ok() && !answer->fine && answer->response.status != 416) now = std::move(answer);
      }
      sent = *std::move(now);
      if (sent.fine) return sent.response;
      auto again = correct(call, sent, corrected);
      if (!again.ok()) return again.status();
      if (!*again) return sent.response;
    }
  };
  const auto response = send_with_retry(options_.retry, attempt, [&](const HttpResponse& answer) {
    return !sent.fine && may_pass(s3_error(answer));
  });
  if (!response.ok())
    return annotate(response.status(), str_cat("cannot ", call.doing, " ", call.path.str()));
  if (sent.fine) return response;
  return error_of(call, sent);
}

DISTRIBUTE_INLINE absl::Status S3Transport::error_of(const S3Call& call, const Sent& sent) const {
  const HttpResponse& response = sent.response;
  S3Error error = s3_error(response);
  if (call.method == "HEAD" && response.status == 404 && error.code.empty())  // has no body
    error.code = "NotFound", error.message = "no such object";
  const std::string query = query_string(call.query);
  return make_status(
      code_of_s3(response.status, error),
      str_cat("cannot ", call.doing, " ", call.path.str(), ": ",
              error.code.empty() ? "" : error.code + ": " + error.message + " ", "(HTTP ",
              response.status, ", request id ",
              error.request_id.empty() ? "unknown" : error.request_id, ", ", call.method, " ",
              url_of(call.path), query.empty() ? "" : "?" + query, ")",
              cure_of_s3(response.status, error, sent.credentials, region_of(call.path.bucket))));
}

}  // namespace distribute::io
