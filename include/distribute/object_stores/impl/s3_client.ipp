#pragma once
#include <distribute/object_stores/detail/s3_client.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/http/credentials.hpp>
#include <distribute/io/compression.hpp>
#include <distribute/object_stores/detail/xml.hpp>

#include <absl/strings/escaping.h>

#include <algorithm>
#include <cstdio>

namespace distribute::io_internal {

/// Encodes the checksum for x-amz-checksum-crc32c: base64 of the big-endian number.
DISTRIBUTE_INLINE std::string crc32c_header(std::string_view bytes) {
  const uint32_t crc = io::crc32c(bytes);
  const char big_endian[] = {char(crc >> 24), char(crc >> 16), char(crc >> 8), char(crc)};
  return absl::Base64Escape(absl::string_view(big_endian, 4));
}

/// The parts of "bytes first-last/size"; -1 for a part that is missing.
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

/// Gives the etag of an object with these parts: the MD5 of the parts' MD5s. It is empty when the
/// parts' etags are no MD5s, as on some servers.
DISTRIBUTE_INLINE std::string etag_of_parts(const std::vector<std::string>& etags) {
  std::string digests;
  for (const std::string& etag : etags) {
    const bool md5 = etag.size() == 34 && etag.front() == '"' && etag.back() == '"' &&
                     etag.find_first_not_of("0123456789abcdef", 1) == 33;
    if (!md5) return "";
    digests += absl::HexStringToBytes(etag.substr(1, 32));
  }
  return str_cat('"', absl::BytesToHexString(io::md5(digests)), '-', etags.size(), '"');
}

/// Gives "/bucket/key", encoded.
DISTRIBUTE_INLINE std::string copy_source(const io::S3Path& from) {
  return "/" + io::url_encode(from.bucket) + "/" + io::url_encode(from.key, "/");
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE absl::StatusOr<S3ObjectInfo> S3Client::head(const S3Path& path) {
  auto response = transport_.send({.doing = "look at", .path = path, .method = "HEAD"});
  if (!response.ok()) return response.status();
  return S3ObjectInfo{.size = std::atoll(response->header("Content-Length").c_str()),
                      .etag = response->header("ETag")};
}

DISTRIBUTE_INLINE absl::StatusOr<int64_t> S3Client::get(const S3Path& path, int64_t offset,
                                                        std::span<char> out,
                                                        const std::string& etag) {
  if (out.empty()) return 0;
  S3Call call{.doing = "read", .path = path, .sink = out};
  call.headers.emplace_back("Range",
                            str_cat("bytes=", offset, "-", offset + int64_t(out.size()) - 1));
  call.headers.emplace_back("X-Amz-Checksum-Mode", "ENABLED");
  if (!etag.empty()) call.headers.emplace_back("If-Match", etag);
  auto response = transport_.send(call);
  if (absl::IsOutOfRange(response.status())) return 0;  // after the end
  if (!response.ok()) return response.status();
  const auto range = io_internal::content_range(*response);
  const bool whole = response->status == 200 || (range.first == 0 && range.last + 1 == range.size);
  if (response->status == 206 ? range.first != offset : offset != 0)
    return make_status(
        StatusCode::DataLoss,
        str_cat("cannot read ", path.str(), ": bytes from ", offset, " on were asked for, but ",
                url_of(path), " sent others (", response->header("Content-Range"), ")"));
  const std::string checksum = whole ? response->header("x-amz-checksum-crc32c") : "";
  const std::string_view bytes(out.data(), size_t(response->sink_bytes));
  // The checksum of an upload in parts, "...-3", is a checksum of checksums.
  if (!checksum.empty() && checksum.find('-') == std::string::npos &&
      checksum != io_internal::crc32c_header(bytes))
    return make_status(
        StatusCode::DataLoss,
        str_cat("cannot read ", path.str(), ": the checksum of what came is ",
                io_internal::crc32c_header(bytes), ", that of the object ", checksum));
  return response->sink_bytes;
}

DISTRIBUTE_INLINE absl::Status S3Client::put(const S3Path& path, std::string_view bytes) {
  return transport_
      .send({.doing = "write",
             .path = path,
             .method = "PUT",
             .headers = {{"X-Amz-Checksum-Crc32c", io_internal::crc32c_header(bytes)}},
             .body = bytes})
      .status();
}

DISTRIBUTE_INLINE absl::Status S3Client::remove(const S3Path& path) {
  return transport_.send({.doing = "remove", .path = path, .method = "DELETE"}).status();
}

DISTRIBUTE_INLINE absl::Status S3Client::remove_all(const std::string& bucket,
                                                    const std::vector<std::string>& keys) {
  std::string body = "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (const std::string& key : keys) body += "<Object><Key>" + xml_escape(key) + "</Key></Object>";
  body += "<Quiet>true</Quiet></Delete>";
  const S3Path path{.bucket = bucket, .key = {}};
  auto response = transport_.send({.doing = "remove objects of",
                                   .path = path,
                                   .method = "POST",
                                   .query = {{"delete", ""}},
                                   .headers = {{"Content-MD5", absl::Base64Escape(md5(body))}},
                                   .body = body});
  if (!response.ok()) return response.status();
  const auto result = parse_xml(response->body);
  if (!result.ok()) return annotate(result.status(), str_cat("cannot remove objects of ", bucket));
  const XmlElement* error = result->child("Error");
  if (!error) return absl::OkStatus();
  return make_status(error->text_of("Code") == "AccessDenied" ? StatusCode::PermissionDenied
                                                              : StatusCode::Unavailable,
                     str_cat("cannot remove s3://", bucket, "/", error->text_of("Key"), ": ",
                             error->text_of("Code"), ": ", error->text_of("Message")));
}

DISTRIBUTE_INLINE absl::Status S3Client::copy(const S3Path& from, const S3Path& to) {
  return transport_
      .send({.doing = "copy to",
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
  S3Call call{.doing = "list", .path = {.bucket = prefix.bucket, .key = {}}};
  call.query = {{"list-type", "2"},
                {"prefix", prefix.key},
                {"max-keys", std::to_string(max_keys)},
                {"encoding-type", "url"}};
  if (!delimiter.empty()) call.query.emplace_back("delimiter", delimiter);
  if (!continuation.empty()) call.query.emplace_back("continuation-token", continuation);
  auto response = transport_.send(call);
  if (!response.ok()) return response.status();
  const auto root = parse_xml(response->body);
  if (!root.ok() || root->name != "ListBucketResult")
    return make_status(StatusCode::DataLoss,
                       str_cat("cannot list ", prefix.str(), ": ", url_of(call.path),
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
  auto response = transport_.send(
      {.doing = "write", .path = path, .method = "POST", .query = {{"uploads", ""}}});
  if (!response.ok()) return response.status();
  const auto root = parse_xml(response->body);
  const std::string id = root.ok() ? root->text_of("UploadId") : "";
  if (!id.empty()) return id;
  return make_status(StatusCode::DataLoss, str_cat("cannot write ", path.str(), ": ", url_of(path),
                                                   " gave no UploadId; check S3_ENDPOINT"));
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> S3Client::upload_part(const S3Path& path,
                                                                    const std::string& id,
                                                                    int number,
                                                                    std::string_view bytes) {
  auto response =
      transport_.send({.doing = "write",
                       .path = path,
                       .method = "PUT",
                       .query = {{"partNumber", std::to_string(number)}, {"uploadId", id}},
                       .body = bytes});
  if (!response.ok()) return response.status();
  return response->header("ETag");
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> S3Client::copy_part(const S3Path& from,
                                                                  const S3Path& to,
                                                                  const std::string& id, int number,
                                                                  int64_t offset, int64_t size) {
  auto response = transport_.send(
      {.doing = "copy to",
       .path = to,
       .method = "PUT",
       .query = {{"partNumber", std::to_string(number)}, {"uploadId", id}},
       .headers = {{"X-Amz-Copy-Source", io_internal::copy_source(from)},
                   {"X-Amz-Copy-Source-Range", str_cat("bytes=", offset, "-", offset + size - 1)}},
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
    body += str_cat("<Part><PartNumber>", i + 1, "</PartNumber><ETag>", xml_escape(etags[i]),
                    "</ETag></Part>");
  body += "</CompleteMultipartUpload>";
  const absl::Status status = transport_
                                  .send({.doing = "write",
                                         .path = path,
                                         .method = "POST",
                                         .query = {{"uploadId", id}},
                                         .body = body,
                                         .stall_timeout = 300,
                                         .error_in_body = true})
                                  .status();
  // An earlier attempt may have done it, and its answer was lost.
  const bool gone = absl::IsNotFound(status);
  if (!gone && !absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) return status;
  const std::string etag = io_internal::etag_of_parts(etags);
  if (!gone && etag.empty()) return status;  // an older object may have the same size
  const auto info = head(path);
  const bool done = info.ok() && info->size == size && (etag.empty() || info->etag == etag);
  return done ? absl::OkStatus() : status;
}

DISTRIBUTE_INLINE absl::Status S3Client::abort_upload(const S3Path& path, const std::string& id) {
  return transport_
      .send({.doing = "give up writing",
             .path = path,
             .method = "DELETE",
             .query = {{"uploadId", id}}})
      .status();
}

}  // namespace distribute::io
