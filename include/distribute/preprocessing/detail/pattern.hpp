#pragma once
/// Regular expressions that recognize Unicode's letters and digits.

#include <distribute/base/config.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::preprocessing::preprocessing_internal {

/// Cuts texts into matches and the pieces between them. Thread-safe.
class Pattern {
 public:
  /// Throws  InvalidArgumentError for an invalid regular expression; UnimplementedError in a build
  ///         without PCRE2.
  explicit Pattern(const std::string& expression);

  /// Gives all pieces of the text in order, without empty ones.
  /// Throws  InvalidArgumentError for a text that is not UTF-8.
  std::vector<std::string_view> split(std::string_view text) const;

 private:
  std::shared_ptr<const void> code_;
};

bool has_patterns();

}  // namespace distribute::preprocessing::preprocessing_internal
