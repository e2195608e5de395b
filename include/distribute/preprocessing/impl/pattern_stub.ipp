#pragma once
#if !DISTRIBUTE_HAS_PCRE2
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/preprocessing/detail/pattern.hpp>

namespace distribute::preprocessing::preprocessing_internal {

DISTRIBUTE_INLINE bool has_patterns() { return false; }

DISTRIBUTE_INLINE Pattern::Pattern(const std::string&) {
  throw UnimplementedError(
      "this build has no PCRE2, which cuts texts into words for byte-pair "
      "tokenizers; " DISTRIBUTE_GET_PCRE2);
}

DISTRIBUTE_INLINE std::vector<std::string_view> Pattern::split(std::string_view) const {
  return {};
}

}  // namespace distribute::preprocessing::preprocessing_internal
#endif
