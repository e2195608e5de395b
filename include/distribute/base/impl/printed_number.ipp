#pragma once
#include <distribute/base/detail/printed_number.hpp>
#include <distribute/base/process_state.hpp>

#include <algorithm>
#include <cstdio>

#include <locale.h>

namespace distribute::base_internal {

/// The "C" locale, as long as the process lives.
struct ClassicLocale {
  const locale_t locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
};

DISTRIBUTE_INLINE std::string printed_number(const std::string& format, double value) {
  const locale_t before = ::uselocale(in_process<ClassicLocale>().locale);  // this thread's
  std::string text(size_t(std::max(std::snprintf(nullptr, 0, format.c_str(), value), 0)), ' ');
  std::snprintf(text.data(), text.size() + 1, format.c_str(), value);
  ::uselocale(before);
  return text;
}

}  // namespace distribute::base_internal
