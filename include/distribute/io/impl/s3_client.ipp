#pragma once
#include <distribute/io/s3_client.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/crc32c.hpp>
#include <distribute/io/digest.hpp>
#include <distribute/io/path.hpp>
#include <distribute/io/s3_error.hpp>
#include <distribute/io/xml.hpp>

#include <absl/strings/escaping.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace distribute::io_internal {

/// The Date header as seconds since 1970, or 0.
DISTRIBUTE_INLINE int64_t http_date(const io::HttpResponse& response) {
  absl::Time time;
  std::string error;
  const std::string text = response.header("Date");
  if (!absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", text, &time, &error)) return 0;
  return absl::ToUnixSeconds(time);
}

/// As x-amz-checksum-crc32c has it: base64 of the big-endian number.
DISTRIBUTE_INLINE std::string crc32c_header(std::string_view bytes) {
  const uint32_t crc = io::crc32c(bytes);
  const char big_endian[] = {char(crc >> 24), char(crc >> 16), char(crc >> 8), char(crc)};
  return absl::Base64Escape(absl::string_view(big_endian, 4));
}

/// "bytes first-last/size"; -1 where it is not.
struct ContentRange {
  long long first = -1, last = -1, size = -1;
};

DISTRIBUTE_INLINE ContentRange content_range(const io::HttpResponse& response) {
  ContentRange range;
  const std::string text = response.header("Content-Range");
  if (std::sscanf(text.c_str(), "bytes %lld-%lld/%lld", &range.first, &range.last, &range.size) < 2)
    return {};
  return range;
}

/// "/bucket/key", encoded.
DISTRIBUTE_INLINE std::string copy_source(const io::S3Path& from) {
  return "/" + io::url_encode(from.bucket) + "/" + io::url_encode(from.key, "/");
}

/// Names that may stand in front of a host.
DISTRIBUTE_INLINE bool is_host_label(const std::string& bucket) {
  return bucket.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

}  // namespace distribute::io_internal

namespace distribute::io {

struct S3Client::Call {
  const char* doing;  // for messages: "read"
  S3Path path;
  std::string method = "GET";
  QueryParameters query = {};
  HttpHeaders headers = {};
  std::string_view body = {};
  std::span<char> sink = {};
  double stall_timeout = 0;    // 0: the options'
  bool error_in_body = false;  // a 200 may hold an error
};

struct S3Client::Sent {
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
                     concat("'", path, "' should look like s3://bucket/key"));
}

DISTRIBUTE_INLINE std::string S3Client::region_of(const std::string& bucket) const {
  const std::lock_guard lock(mutex_);
  const auto found = regions_.find(bucket);
  return found == regions_.end() ? options_.region : found->second;
}

DISTRIBUTE_INLINE int64_t S3Client::now() const {
  const std::lock_guard lock(mutex_);
  return absl::ToUnixSeconds(absl::Now()) + clock_offset_;
}

DISTRIBUTE_INLINE std::string S3Client::url_of(const S3Path& path) const {
  const std::string key = url_encode(path.key, "/");
  if (!options_.endpoint.empty())
    return concat(options_.endpoint, "/", url_encode(path.bucket), "/", key);
  const std::string region = region_of(path.bucket);
  const std::string host =
      concat("s3.", region, ".amazonaws.com", region.starts_with("cn-") ? ".cn" : "");
  if (options_.path_style || !io_internal::is_host_label(path.bucket))
    return concat("https://", host, "/", url_encode(path.bucket), "/", key);
  return concat("https://", path.bucket, ".", host, "/", key);
}

DISTRIBUTE_INLINE absl::StatusOr<S3Client::Sent> S3Client::send_once(const Call& call) {
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
  // Under TLS the transport proves the body already, and hashing it would take as long again.
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

DISTRIBUTE_INLINE absl::StatusOr<bool> S3Client::correct(const Call& call, const Sent& sent,
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

DISTRIBUTE_INLINE absl::StatusOr<HttpResponse> S3Client::send(const Call& call) {
  std::string corrected;
  Sent sent{};
  const auto attempt = [&]() -> absl::StatusOr<HttpResponse> {
    while (true) {
      auto now = send_once(call);
      if (!now.ok()) return now.status();
      const int status = now->response.status;
      if (call.method == "HEAD" && status >= 300 && status < 500 && status != 404) {
        // An answer to HEAD does not say what is wrong; one to GET does.
        Call probe = call;
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
    return annotate(response.status(), concat("cannot ", call.doing, " ", call.path.str()));
  if (sent.fine) return response;
  return error_of(call, sent);
}

DISTRIBUTE_INLINE absl::Status S3Client::error_of(const Call& call, const Sent& sent) const {
  const HttpResponse& response = sent.response;
  const S3Error error = s3_error(response);
  const std::string query = query_string(call.query);
  return make_status(
      code_of_s3(response.status, error),
      concat("cannot ", call.doing, " ", call.path.str(), ": ",
             error.code.empty() ? "" : error.code + ": " + error.message + " ", "(HTTP ",
             response.status, ", request id ",
             error.request_id.empty() ? "unknown" : error.request_id, ", ", call.method, " ",
             url_of(call.path), query.empty() ? "" : "?" + query, ")",
             cure_of_s3(response.status, error, sent.credentials, region_of(call.path.bucket))));
}

DISTRIBUTE_INLINE absl::StatusOr<S3ObjectInfo> S3Client::head(const S3Path& path) {
  auto response = send({.doing = "look at", .path = path, .method = "HEAD"});
  if (!response.ok()) return response.status();
  return S3ObjectInfo{.size = std::atoll(response->header("Content-Length").c_str()),
                      .etag = response->header("ETag")};
}

DISTRIBUTE_INLINE absl::StatusOr<int64_t> S3Client::get(const S3Path& path, int64_t offset,
                                                        std::span<char> out,
                                                        const std::string& etag) {
  if (out.empty()) return 0;
  Call call{.doing = "read", .path = path, .sink = out};
  call.headers.emplace_back("Range",
                            concat("bytes=", offset, "-", offset + int64_t(out.size()) - 1));
  call.headers.emplace_back("X-Amz-Checksum-Mode", "ENABLED");
  if (!etag.empty()) call.headers.emplace_back("If-Match", etag);
  auto response = send(call);
  if (absl::IsOutOfRange(response.status())) return 0;  // behind the end
  if (!response.ok()) return response.status();
  const auto range = io_internal::content_range(*response);
  const bool whole = response->status == 200 || (range.first == 0 && range.last + 1 == range.size);
  if (response->status == 206 ? range.first != offset : offset != 0)
    return make_status(
        StatusCode::DataLoss,
        concat("cannot read ", path.str(), ": bytes from ", offset, " on were asked for, but ",
               url_of(path), " sent others (", response->header("Content-Range"), ")"));
  const std::string checksum = whole ? response->header("x-amz-checksum-crc32c") : "";
  const std::string_view bytes(out.data(), size_t(response->sink_bytes));
  // One of an upload in parts, "...-3", is a checksum of checksums.
  if (!checksum.empty() && checksum.find('-') == std::string::npos &&
      checksum != io_internal::crc32c_header(bytes))
    return make_status(
        StatusCode::DataLoss,
        concat("cannot read ", path.str(), ": the checksum of what came is ",
               io_internal::crc32c_header(bytes), ", that of the object ", checksum));
  return response->sink_bytes;
}

DISTRIBUTE_INLINE absl::Status S3Client::put(const S3Path& path, std::string_view bytes) {
  return send({.doing = "write",
               .path = path,
               .method = "PUT",
               .headers = {{"X-Amz-Checksum-Crc32c", io_internal::crc32c_header(bytes)}},
               .body = bytes})
      .status();
}

DISTRIBUTE_INLINE absl::Status S3Client::remove(const S3Path& path) {
  return send({.doing = "remove", .path = path, .method = "DELETE"}).status();
}

DISTRIBUTE_INLINE absl::Status S3Client::remove_all(const std::string& bucket,
                                                    const std::vector<std::string>& keys) {
  std::string body = "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (const std::string& key : keys) body += "<Object><Key>" + xml_escape(key) + "</Key></Object>";
  body += "<Quiet>true</Quiet></Delete>";
  const S3Path path{.bucket = bucket, .key = {}};
  auto response = send({.doing = "remove objects of",
                        .path = path,
                        .method = "POST",
                        .query = {{"delete", ""}},
                        .headers = {{"Content-MD5", absl::Base64Escape(md5(body))}},
                        .body = body});
  if (!response.ok()) return response.status();
  const auto result = parse_xml(response->body);
  if (!result.ok()) return annotate(result.status(), concat("cannot remove objects of ", bucket));
  const XmlElement* error = result->child("Error");
  if (!error) return absl::OkStatus();
  return make_status(error->text_of("Code") == "AccessDenied" ? StatusCode::PermissionDenied
                                                              : StatusCode::Unavailable,
                     concat("cannot remove s3://", bucket, "/", error->text_of("Key"), ": ",
                            error->text_of("Code"), ": ", error->text_of("Message")));
}

DISTRIBUTE_INLINE absl::Status S3Client::copy(const S3Path& from, const S3Path& to) {
  return send({.doing = "copy to",
               .path = to,
               .method = "PUT",
               .headers = {{"X-Amz-Copy-Source", io_internal::copy_source(from)}},
               .stall_timeout = 300,
               .error_in_body = true})
      .status();
}

DISTRIBUTE_INLINE absl::StatusOr<S3Listing> S3Client::list(const S3Path& prefix,
                                                           const std::string& delimiter,
                                                           int max_keys,
                                                           const std::string& continuation) {
  Call call{.doing = "list", .path = {.bucket = prefix.bucket, .key = {}}};
  call.query = {{"list-type", "2"},
                {"prefix", prefix.key},
                {"max-keys", std::to_string(max_keys)},
                {"encoding-type", "url"}};
  if (!delimiter.empty()) call.query.emplace_back("delimiter", delimiter);
  if (!continuation.empty()) call.query.emplace_back("continuation-token", continuation);
  auto response = send(call);
  if (!response.ok()) return response.status();
  const auto root = parse_xml(response->body);
  if (!root.ok() || root->name != "ListBucketResult")
    return make_status(StatusCode::DataLoss,
                       concat("cannot list ", prefix.str(), ": ", url_of(call.path),
                              " did not answer as an S3 server does; check S3_ENDPOINT"));
  const bool encoded = root->text_of("EncodingType") == "url";
  const auto decoded = [&](std::string text) {
    if (!encoded) return text;
    std::replace(text.begin(), text.end(), '+', ' ');
    return url_decode(text);
  };
  S3Listing listing;
  for (const XmlElement& element : root->children) {
    if (element.name == "CommonPrefixes") {
      listing.prefixes.push_back(decoded(element.text_of("Prefix")));
    } else if (element.name == "Contents") {
      listing.keys.push_back(decoded(element.text_of("Key")));
      listing.sizes.push_back(std::atoll(element.text_of("Size").c_str()));
    }
  }
  if (root->text_of("IsTruncated") == "true")
    listing.continuation = root->text_of("NextContinuationToken");
  return listing;
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> S3Client::start_upload(const S3Path& path) {
  auto response =
      send({.doing = "write", .path = path, .method = "POST", .query = {{"uploads", ""}}});
  if (!response.ok()) return response.status();
  const auto root = parse_xml(response->body);
  const std::string id = root.ok() ? root->text_of("UploadId") : "";
  if (!id.empty()) return id;
  return make_status(StatusCode::DataLoss, concat("cannot write ", path.str(), ": ", url_of(path),
                                                  " gave no UploadId; check S3_ENDPOINT"));
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> S3Client::upload_part(const S3Path& path,
                                                                    const std::string& id,
                                                                    int number,
                                                                    std::string_view bytes) {
  auto response = send({.doing = "write",
                        .path = path,
                        .method = "PUT",
                        .query = {{"partNumber", std::to_string(number)}, {"uploadId", id}},
                        .headers = {{"Content-MD5", absl::Base64Escape(md5(bytes))}},
                        .body = bytes});
  if (!response.ok()) return response.status();
  return response->header("ETag");
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> S3Client::copy_part(const S3Path& from,
                                                                  const S3Path& to,
                                                                  const std::string& id, int number,
                                                                  int64_t offset, int64_t size) {
  auto response = send(
      {.doing = "copy to",
       .path = to,
       .method = "PUT",
       .query = {{"partNumber", std::to_string(number)}, {"uploadId", id}},
       .headers = {{"X-Amz-Copy-Source", io_internal::copy_source(from)},
                   {"X-Amz-Copy-Source-Range", concat("bytes=", offset, "-", offset + size - 1)}},
       .stall_timeout = 300,
       .error_in_body = true});
  if (!response.ok()) return response.status();
  const auto root = parse_xml(response->body);
  return root.ok() ? absl::StatusOr<std::string>(root->text_of("ETag")) : root.status();
}

DISTRIBUTE_INLINE absl::Status S3Client::finish_upload(const S3Path& path, const std::string& id,
                                                       const std::vector<std::string>& etags,
                                                       int64_t size) {
  std::string body = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (size_t i = 0; i < etags.size(); ++i)
    body += concat("<Part><PartNumber>", i + 1, "</PartNumber><ETag>", xml_escape(etags[i]),
                   "</ETag></Part>");
  body += "</CompleteMultipartUpload>";
  const absl::Status status = send({.doing = "write",
                                    .path = path,
                                    .method = "POST",
                                    .query = {{"uploadId", id}},
                                    .body = body,
                                    .stall_timeout = 300,
                                    .error_in_body = true})
                                  .status();
  if (!absl::IsNotFound(status)) return status;
  const auto info = head(path);  // an earlier try may have done it, and its answer was lost
  return info.ok() && info->size == size ? absl::OkStatus() : status;
}

DISTRIBUTE_INLINE absl::Status S3Client::abort_upload(const S3Path& path, const std::string& id) {
  return send({.doing = "give up writing",
               .path = path,
               .method = "DELETE",
               .query = {{"uploadId", id}}})
      .status();
}

}  // namespace distribute::io
