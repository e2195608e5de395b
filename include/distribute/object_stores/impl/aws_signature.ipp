#pragma once
#include <distribute/base/config.hpp>
#include <distribute/object_stores/detail/aws_signature.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/http/credentials.hpp>
#include <distribute/http/http_client.hpp>

#include <absl/strings/escaping.h>
#include <absl/time/time.h>

#include <algorithm>
#include <map>

namespace distribute::io_internal {

/// Gives the query in the signed form: sorted, "name=" for a name without a value.
DISTRIBUTE_INLINE std::string canonical_query(std::string_view query) {
  std::vector<std::string> parts;
  while (!query.empty()) {
    std::string part(query.substr(0, query.find('&')));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    if (part.find('=') == std::string::npos) part += '=';
    parts.push_back(part);
  }
  // Sorts by name, then by value: '=' sorts after digits and some signs that names may contain.
  std::sort(parts.begin(), parts.end(), [](const std::string& a, const std::string& b) {
    const auto split = [](const std::string& text) {
      const size_t equals = text.find('=');
      return std::pair(text.substr(0, equals), text.substr(equals + 1));
    };
    return split(a) < split(b);
  });
  std::string joined;
  for (const std::string& part : parts) joined += (joined.empty() ? "" : "&") + part;
  return joined;
}

/// Removes blanks at both ends, and repeated ones inside.
DISTRIBUTE_INLINE std::string trimmed_value(const std::string& value) {
  std::string trimmed;
  for (const char c : value) {
    const bool blank = c == ' ' || c == '\t';
    if (!blank) {
      trimmed += c;
    } else if (!trimmed.empty() && trimmed.back() != ' ') {
      trimmed += ' ';
    }
  }
  if (trimmed.ends_with(' ')) trimmed.pop_back();
  return trimmed;
}

struct SignedHeaders {
  std::string lines, names;  // "name:value\n"..., "name;name"
};

DISTRIBUTE_INLINE SignedHeaders signed_headers(const io::HttpHeaders& headers) {
  std::map<std::string, std::string> sorted;
  for (const auto& [name, value] : headers) {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(), ::tolower);
    std::string& joined = sorted[lower];
    joined += (joined.empty() ? "" : ",") + trimmed_value(value);
  }
  SignedHeaders result;
  for (const auto& [name, value] : sorted) {
    result.lines += name + ":" + value + "\n";
    result.names += (result.names.empty() ? "" : ";") + name;
  }
  return result;
}

DISTRIBUTE_INLINE std::string aws_signing_key(const std::string& secret, const std::string& date,
                                              const io::AwsSignatureScope& scope) {
  std::string key = io::hmac_sha256("AWS4" + secret, date);
  key = io::hmac_sha256(key, scope.region);
  key = io::hmac_sha256(key, scope.service);
  return io::hmac_sha256(key, "aws4_request");
}

/// Gives the Host header that libcurl writes and the server sees.
DISTRIBUTE_INLINE std::string host_header(io::Url url) {
  if (url.port == (url.scheme == "https" ? 443 : 80)) url.port = 0;
  return url.authority();
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE std::string aws_payload_hash(std::string_view body) {
  return absl::BytesToHexString(sha256(body));
}

DISTRIBUTE_INLINE absl::Status sign_aws_request(HttpRequest& request,
                                                const AwsCredentials& credentials,
                                                const AwsSignatureScope& scope) {
  if (credentials.anonymous()) return absl::OkStatus();
  if (!has_digests())
    return make_status(
        StatusCode::Unimplemented,
        str_cat(printable_url(request.url),
                ": this build has no OpenSSL and cannot sign requests; " DISTRIBUTE_GET_OPENSSL));
  const auto url = parse_url(request.url);
  if (!url.ok()) return url.status();
  const std::string time =
      absl::FormatTime("%Y%m%dT%H%M%SZ", absl::FromUnixSeconds(scope.time), absl::UTCTimeZone());
  const std::string date = time.substr(0, 8);
  HttpHeaders& headers = request.headers;
  headers.emplace_back("Host", io_internal::host_header(*url));
  headers.emplace_back("X-Amz-Date", time);
  if (scope.service == "s3") headers.emplace_back("X-Amz-Content-Sha256", scope.payload_hash);
  if (!credentials.session_token.empty())
    headers.emplace_back("X-Amz-Security-Token", credentials.session_token);

  const auto [lines, names] = io_internal::signed_headers(headers);
  const std::string canonical = str_cat(request.method, "\n", url->path.empty() ? "/" : url->path,
                                        "\n", io_internal::canonical_query(url->query), "\n", lines,
                                        "\n", names, "\n", scope.payload_hash);
  const std::string range = str_cat(date, "/", scope.region, "/", scope.service, "/aws4_request");
  const std::string to_sign =
      str_cat("AWS4-HMAC-SHA256\n", time, "\n", range, "\n", aws_payload_hash(canonical));
  const std::string key = io_internal::aws_signing_key(credentials.secret_access_key, date, scope);
  headers.emplace_back("Authorization",
                       str_cat("AWS4-HMAC-SHA256 Credential=", credentials.access_key_id, "/",
                               range, ",SignedHeaders=", names,
                               ",Signature=", absl::BytesToHexString(hmac_sha256(key, to_sign))));
  return absl::OkStatus();
}

}  // namespace distribute::io
