#pragma once
/// Text from outside: environment variables, files that a user names, and numbers in them.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>

#include <charconv>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
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

namespace distribute {

/// Maps a variable's name to its value. Cheap to copy. The default reads the process's environment
/// at every call; do not call setenv on another thread meanwhile.
///
/// A value that is not what a member function wants is an InvalidArgumentError with the variable's
/// name, the value, cut after 80 bytes, and what is allowed: "DISTRIBUTE_TLS='yes': wanted 0 or 1".
/// A variable that is set to nothing counts as not set, save for operator(), has() and integer().
class Environment {
 public:
  using Reader = std::function<std::optional<std::string>(const std::string&)>;

  Environment() = default;
  Environment(Reader reader) : reader_(std::move(reader)) {}  // NOLINT: implicit
  Environment(std::map<std::string, std::string> variables);  // NOLINT: implicit

  /// Returns the value; nullopt when the variable is not set.
  std::optional<std::string> operator()(const std::string& name) const;
  bool has(const std::string& name) const { return (*this)(name).has_value(); }

  /// Returns the value; "" when the variable is not set.
  std::string text(const std::string& name) const;
  /// Returns the value as a whole number of 32 bits.
  std::optional<int> integer(const std::string& name) const;
  /// Returns whether the value is "1" or "true", where "0" and "false" are the other two that are
  /// allowed; `otherwise` when the variable is not set.
  bool flag(const std::string& name, bool otherwise) const;
  /// Returns the place of the value among the words that are allowed.
  std::optional<int> choice(const std::string& name,
                            std::initializer_list<std::string_view> words) const;

  /// Sets `value` to the variable's number; leaves it alone when the variable is not set.
  template <typename Number>
  void read(const std::string& name, Number least, Number most, Number& value) const {
    const std::string given = text(name);
    if (given.empty()) return;
    const std::string_view digits = untrusted::trimmed(given);
    const char* const end = digits.data() + digits.size();
    Number number{};
    const auto [stop, error] = std::from_chars(digits.data(), end, number);
    if (error != std::errc() || stop != end || !(number >= least && number <= most))
      refuse(name, given, str_cat("a number from ", least, " to ", most));
    value = number;
  }
  /// Reads a time in seconds, from a millisecond to 1e7 s.
  void read_seconds(const std::string& name, double& value) const { read(name, 0.001, 1e7, value); }

 private:
  /// Throws the error of a value; `wanted` says what is allowed.
  [[noreturn]] static void refuse(const std::string& name, const std::string& value,
                                  const std::string& wanted);

  Reader reader_;  // empty: getenv
};

}  // namespace distribute
