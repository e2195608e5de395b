#pragma once
/// Uniform resource locators: percent-encoding, query strings, and taking addresses apart.

#include <distribute/base/config.hpp>

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace distribute::io {

/// Everything but A-Z a-z 0-9 - _ . ~ becomes %XX, in capitals: the set that signatures of cloud
/// services are computed over. `keep` lists further characters that stay, such as "/".
std::string url_encode(std::string_view text, std::string_view keep = "");

/// %XX becomes its byte; what is no escape stays.
std::string url_decode(std::string_view text);

/// Names and values, not encoded.
using QueryParameters = std::vector<std::pair<std::string, std::string>>;

/// "a=1&b=" with both sides encoded, sorted by name and value as signatures demand.
std::string query_string(const QueryParameters& parameters);

/// scheme://host:port/path?query. Host without the brackets of IPv6; path and query encoded as
/// they were; port 0 where none was given.
struct Url {
  std::string scheme, host;
  int port = 0;
  std::string path, query;

  /// "host:port", or "host" without a port: what the Host header says.
  std::string authority() const;
  std::string str() const;
};

/// Errors  InvalidArgument when there is no scheme or host, or the port is no number.
absl::StatusOr<Url> parse_url(std::string_view text);

/// For messages: user names, and values of the query that are secrets, become "...".
std::string printable_url(std::string_view url);

}  // namespace distribute::io
