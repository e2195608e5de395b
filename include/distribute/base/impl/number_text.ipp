#pragma once
#include <distribute/base/detail/number_text.hpp>
#include <distribute/base/process_state.hpp>

#include <algorithm>
#include <charconv>
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

DISTRIBUTE_INLINE std::string nine_digits(double value) {
  char text[40];
  const auto end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::general, 9).ptr;
  return std::string(text, end);
}

DISTRIBUTE_INLINE std::string python_number(double value) {
  char text[40];
  const auto print = [&](std::chars_format format) {
    return std::string(text, std::to_chars(text, text + sizeof text, value, format).ptr);
  };
  const std::string digits = print(std::chars_format::scientific);  // such as 1.5e-05, inf, nan
  const size_t e = digits.find("e");
  if (e == std::string::npos) return digits == "-nan" ? "nan" : digits;
  const int exponent = std::stoi(digits.substr(e + 1));
  if (exponent < -4 || exponent >= 16) return digits;
  const std::string fixed = print(std::chars_format::fixed);
  return fixed.find('.') == std::string::npos ? fixed + ".0" : fixed;
}

DISTRIBUTE_INLINE double leading_number(std::string_view text, size_t* used) {
  size_t at = std::min(text.find_first_not_of(" \t\n"), text.size());
  if (at < text.size() && text[at] == '+') ++at;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    const std::string_view number(text.data() + at, size_t(end - text.data()) - at);
    const bool tiny = number.find("e-") != number.npos || number.find("E-") != number.npos;
    value = tiny ? 0 : number.starts_with('-') ? -HUGE_VAL : HUGE_VAL;
  }
  if (used) *used = error == std::errc::invalid_argument ? 0 : size_t(end - text.data());
  return value;
}

}  // namespace distribute::base_internal
