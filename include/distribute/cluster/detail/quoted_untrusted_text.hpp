#pragma once
/// Text from outside: how it is shown in an error, and how it becomes a number.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::cluster_internal {

/// `text` without white space at its ends.
std::string_view trimmed(std::string_view text);

/// In single quotes, control characters escaped, cut after about 80 bytes.
std::string shown(std::string_view text);

/// A decimal number as Python's int() reads it: blanks around it and a sign are fine.
/// Nothing for other text and for numbers beyond 32 bits.
std::optional<int> parse_int(std::string_view text);

/// The pieces between commas without the blanks around them; no piece for an empty text.
std::vector<std::string> split_commas(std::string_view text);

/// "host:port", with brackets around an IPv6 address that has none.
/// Throws  InvalidArgumentError for a port outside of 1 to 65535 or a host with blanks in it.
std::string join_host_port(std::string_view host, int64_t port);

}  // namespace distribute::cluster_internal
