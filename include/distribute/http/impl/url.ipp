#pragma once
#include <distribute/http/http_client.hpp>

#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <charconv>

namespace distribute::io_internal {

DISTRIBUTE_INLINE bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

/// Gives 0 to 15, or -1 for other characters.
DISTRIBUTE_INLINE int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// Splits "host:port", "[::1]:port" or either without a port.
DISTRIBUTE_INLINE bool parse_authority(std::string_view text, io::Url& url) {
  const bool brackets = text.starts_with('[');
  const size_t end = brackets ? text.find(']') : text.find(':');
  if (brackets && end == std::string_view::npos) return false;
  url.host = text.substr(brackets ? 1 : 0, brackets ? end - 1 : end);
  std::string_view rest =
      end == std::string_view::npos ? "" : text.substr(end + (brackets ? 1 : 0));
  if (rest.empty()) return !url.host.empty();
  if (!rest.starts_with(':')) return false;
  rest.remove_prefix(1);
  const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), url.port);
  return error == std::errc() && stop == rest.data() + rest.size() && !url.host.empty() &&
         url.port > 0 && url.port < 65536;
}

DISTRIBUTE_INLINE bool is_secret_parameter(std::string_view name) {
  return name == "X-Amz-Signature" || name == "X-Amz-Security-Token" || name == "access_token" ||
         name == "delegation" || name == "upload_id";
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE std::string url_encode(std::string_view text, std::string_view keep) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (io_internal::is_unreserved(c) || keep.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += {'%', kHex[(unsigned char)(c) >> 4], kHex[(unsigned char)(c)&15]};
    }
  }
  return encoded;
}

DISTRIBUTE_INLINE std::string url_decode(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = i + 2 < text.size() ? io_internal::hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? io_internal::hex_value(text[i + 2]) : -1;
    const bool escape = text[i] == '%' && low >= 0;
    decoded += escape ? char(high * 16 + low) : text[i];
    if (escape) i += 2;
  }
  return decoded;
}

DISTRIBUTE_INLINE std::string query_string(const QueryParameters& parameters) {
  QueryParameters encoded;
  for (const auto& [name, value] : parameters)
    encoded.emplace_back(url_encode(name), url_encode(value));
  std::sort(encoded.begin(), encoded.end());
  std::string query;
  for (const auto& [name, value] : encoded)
    query += (query.empty() ? "" : "&") + name + "=" + value;
  return query;
}

DISTRIBUTE_INLINE std::string Url::authority() const {
  std::string text = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == 0 ? text : text + ":" + std::to_string(port);
}

DISTRIBUTE_INLINE std::string Url::str() const {
  return scheme + "://" + authority() + path + (query.empty() ? "" : "?" + query);
}

DISTRIBUTE_INLINE absl::StatusOr<Url> parse_url(std::string_view text) {
  Url url;
  url.scheme = scheme_of(text);
  std::string_view rest = url.scheme.empty() ? "" : text.substr(url.scheme.size() + 3);
  rest = rest.substr(0, rest.find('#'));
  const size_t end = std::min(rest.find_first_of("/?"), rest.size());
  std::string_view authority = rest.substr(0, end);
  authority = authority.substr(authority.rfind('@') + 1);
  if (url.scheme.empty() || !io_internal::parse_authority(authority, url)) {
    return make_status(StatusCode::InvalidArgument, str_cat("'", printable_url(text),
                                                            "' is not a URL; it should look like "
                                                            "https://host:port/path"));
  }
  rest.remove_prefix(end);
  const size_t question = std::min(rest.find('?'), rest.size());
  url.path = rest.substr(0, question);
  url.query = question < rest.size() ? rest.substr(question + 1) : "";
  return url;
}

DISTRIBUTE_INLINE std::string printable_url(std::string_view url) {
  std::string text(url);
  const size_t start = text.find("://");
  const size_t host = start == std::string::npos ? 0 : start + 3;
  const size_t at = text.rfind('@', text.find_first_of("/?", host));
  if (at != std::string::npos && at >= host) text.replace(host, at - host, "...");
  size_t name = text.find('?');
  while (name != std::string::npos) {
    const size_t end = text.find('&', ++name);
    const size_t equals = text.find('=', name);
    if (equals < end && io_internal::is_secret_parameter(text.substr(name, equals - name))) {
      text.replace(equals + 1, std::min(end, text.size()) - equals - 1, "...");
    }
    name = text.find('&', name);
  }
  return untrusted::printable(text);
}

}  // namespace distribute::io
