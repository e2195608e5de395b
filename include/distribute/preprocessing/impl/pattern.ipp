#pragma once
#if DISTRIBUTE_HAS_PCRE2
#include <distribute/base/error.hpp>
#include <distribute/preprocessing/detail/pattern.hpp>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace distribute::preprocessing::preprocessing_internal {

DISTRIBUTE_INLINE bool has_patterns() { return true; }

DISTRIBUTE_INLINE std::string pcre2_message(int error) {
  PCRE2_UCHAR text[256] = {};
  pcre2_get_error_message(error, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

DISTRIBUTE_INLINE Pattern::Pattern(const std::string& expression) {
  int error = 0;
  PCRE2_SIZE place = 0;
  pcre2_code* code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                    PCRE2_UTF | PCRE2_UCP, &error, &place, nullptr);
  if (!code)
    throw InvalidArgumentError(
        str_cat("regular expression '", expression, "', at ", place, ": ", pcre2_message(error)));
  code_ = std::shared_ptr<const void>(
      code, [](const void* p) { pcre2_code_free(static_cast<pcre2_code*>(const_cast<void*>(p))); });
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // if this fails, PCRE2 interprets the code
}

DISTRIBUTE_INLINE std::vector<std::string_view> Pattern::split(std::string_view text) const {
  const auto* code = static_cast<const pcre2_code*>(code_.get());
  const std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> match(
      pcre2_match_data_create_from_pattern(code, nullptr), pcre2_match_data_free);
  const PCRE2_SIZE* range = pcre2_get_ovector_pointer(match.get());
  std::vector<std::string_view> pieces;
  const auto add = [&](size_t from, size_t to) {
    if (from < to) pieces.push_back(text.substr(from, to - from));
  };
  size_t done = 0;
  for (uint32_t options = 0; done < text.size(); options = PCRE2_NO_UTF_CHECK) {
    const int found = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                  done, options | PCRE2_NOTEMPTY, match.get(), nullptr);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0)
      throw InvalidArgumentError("a text cannot be cut into words: " + pcre2_message(found));
    add(done, range[0]);
    add(range[0], range[1]);
    done = range[1];
  }
  add(done, text.size());
  return pieces;
}

}  // namespace distribute::preprocessing::preprocessing_internal
#endif
