#pragma once
#include <distribute/estimator/detail/log_lines.hpp>

#include <charconv>
#include <cmath>

namespace distribute::train_internal {

DISTRIBUTE_INLINE void print_line(std::FILE* out, const std::string& line) {
  if (!out) return;
  std::fprintf(out, "%s\n", line.c_str());
  std::fflush(out);
}

DISTRIBUTE_INLINE std::string fixed_text(double value, int digits) {
  char text[400];
  return {text,
          std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits).ptr};
}

/// The shortest digits of the float32 are read as a float64, which prints the same digits where
/// there is no exponent.
DISTRIBUTE_INLINE std::string figure_text(double value) {
  if (std::isnan(value)) return "nan";
  char text[64];
  char* end =
      std::to_chars(text, text + sizeof text, float(value), std::chars_format::scientific).ptr;
  const double size = std::abs(double(float(value)));
  if (std::isinf(size) || (size > 0 && size < 1e-4) || size >= 1e16) return {text, end};
  double digits = 0;
  std::from_chars(text, end, digits);
  end = std::to_chars(text, text + sizeof text, digits, std::chars_format::fixed).ptr;
  const std::string fixed(text, end);
  return fixed.find('.') == fixed.npos ? fixed + ".0" : fixed;
}

DISTRIBUTE_INLINE std::string number_or_none(const std::optional<double>& value) {
  if (!value) return "None";
  // RunConfig keeps an integer as an integer.
  if (*value == std::floor(*value) && std::abs(*value) < 1e15)
    return std::to_string(int64_t(*value));
  return figure_text(*value);
}

DISTRIBUTE_INLINE std::string number_or_none(const std::optional<int64_t>& value) {
  return value ? std::to_string(*value) : "None";
}

}  // namespace distribute::train_internal
