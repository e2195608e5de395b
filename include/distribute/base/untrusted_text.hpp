#pragma once
/// Text from outside: shown in errors, and converted to numbers.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::untrusted {

/// Returns `text` without white space at its ends.
std::string_view trimmed(std::string_view text);

/// Returns text for one line of a log: all but printable ASCII and letters of scripts from left to
/// right is escaped, as in "\x1b" and "\u202e"; text longer than `most` bytes is cut.
std::string printable(std::string_view text, size_t most = 512);

/// Reads a small text file that a user has named.
/// Throws  NotFoundError, PermissionDeniedError or InvalidArgumentError, each with path and reason:
///          also for a directory, a device or a pipe, which might never end, and for more than
///          `most` bytes.
std::string read_text_file(const std::string& path, size_t most = 1 << 20);

/// Returns the text in single quotes, control characters escaped, cut after about 80 bytes.
std::string shown(std::string_view text);

/// Parses a decimal number as Python's int(): blanks around it and a sign are allowed. Returns
/// nullopt for other text and for numbers beyond 32 bits.
std::optional<int> parse_int(std::string_view text);

/// Returns the pieces between commas without the blanks around them; no piece for an empty text.
std::vector<std::string> split_commas(std::string_view text);

}  // namespace distribute::untrusted
