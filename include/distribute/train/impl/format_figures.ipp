#pragma once
#include <distribute/base/detail/number_text.hpp>
#include <distribute/base/error.hpp>
#include <distribute/train/model_checkpoint.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

namespace distribute::train_internal {

/// [[fill]align][sign][#][0][width][grouping][.precision][type]
/// Source  Python's format specification mini-language
struct NumberFormat {
  char fill = ' ', align = '>', sign = '-', grouping = 0, type = 0;
  bool alternate = false;
  int width = 0, precision = -1;
};

DISTRIBUTE_INLINE InvalidArgumentError no_format(std::string_view text) {
  return InvalidArgumentError(str_cat("'", text, "' is no format of a number"));
}

/// Takes it out of the front of `text` if it is one of `known`.
DISTRIBUTE_INLINE char take_one(std::string_view& text, std::string_view known) {
  if (text.empty() || known.find(text[0]) == known.npos) return 0;
  const char one = text[0];
  text.remove_prefix(1);
  return one;
}

DISTRIBUTE_INLINE int take_number(std::string_view& text, int otherwise) {
  int value = otherwise;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range || value > 1000) throw no_format(text);
  text.remove_prefix(size_t(end - text.data()));
  return value;
}

DISTRIBUTE_INLINE NumberFormat parsed_format(std::string_view text) {
  const std::string_view whole = text, aligns = "<>=^";
  NumberFormat format;
  char align = 0;
  if (text.size() > 1 && aligns.find(text[1]) != aligns.npos) {
    format.fill = text[0];
    text.remove_prefix(1);
    align = take_one(text, aligns);
  } else {
    align = take_one(text, aligns);
    format.fill = 0;
  }
  if (const char sign = take_one(text, "+- ")) format.sign = sign;
  format.alternate = take_one(text, "#") != 0;
  const bool zeros = take_one(text, "0") != 0;
  if (!format.fill) format.fill = zeros ? '0' : ' ';
  format.align = align ? align : zeros ? '=' : '>';
  if (!text.empty() && text[0] != '-') format.width = take_number(text, 0);
  format.grouping = take_one(text, ",_");
  if (take_one(text, ".") != 0) format.precision = take_number(text, -2);
  format.type = take_one(text, "bdeEfFgGnoxX%");
  if (!text.empty() || format.precision == -2) throw no_format(whole);
  return format;
}

/// The digits before the decimal point, and the rest.
struct NumberParts {
  std::string sign, prefix, digits, rest;
};

DISTRIBUTE_INLINE std::string with_point_zero(std::string text) {
  return text.find_first_not_of("0123456789") == text.npos ? text + ".0" : text;
}

/// Formats a precision without a type: "%g" with a digit behind the point, which uses an exponent
/// one power of ten earlier.
DISTRIBUTE_INLINE std::string general(double value, int precision, const std::string& flag) {
  using base_internal::printed_number;
  const int digits = std::max(precision, 1);
  const std::string scientific = printed_number(str_cat("%", flag, ".", digits - 1, "e"), value);
  const size_t at = scientific.find('e');
  if (at == scientific.npos || std::atoi(scientific.c_str() + at + 1) != digits - 1)
    return with_point_zero(printed_number(str_cat("%", flag, ".", digits, "g"), value));
  std::string mantissa = scientific.substr(0, at);
  if (flag.empty() && mantissa.find('.') != mantissa.npos)
    mantissa.erase(mantissa.find_last_not_of("0.") + 1);
  return mantissa + scientific.substr(at);
}

DISTRIBUTE_INLINE std::string float_text(const NumberFormat& format, double value) {
  const std::string flag = format.alternate ? "#" : "";
  if (!format.type)
    return format.precision < 0 ? base_internal::python_number(value)
                                : general(value, format.precision, flag);
  const bool percent = format.type == '%';
  const char type = percent ? 'f' : format.type == 'n' ? 'g' : format.type;
  const int precision = format.precision < 0 ? 6 : format.precision;
  const std::string text = base_internal::printed_number(
      str_cat("%", flag, ".", precision, std::string(1, type)), percent ? value * 100 : value);
  return percent ? text + "%" : text;
}

DISTRIBUTE_INLINE std::string integer_text(int64_t value, char type) {
  const int base = type == 'b' ? 2 : type == 'o' ? 8 : type == 'x' || type == 'X' ? 16 : 10;
  char text[72];
  std::string digits(text, std::to_chars(text, text + sizeof text, value, base).ptr);
  if (type == 'X') std::transform(digits.begin(), digits.end(), digits.begin(), ::toupper);
  return digits;
}

DISTRIBUTE_INLINE bool is_among(char type, std::string_view types) {
  return type && types.find(type) != types.npos;
}
DISTRIBUTE_INLINE bool is_integer_type(char type) { return is_among(type, "bdoxX"); }
/// Whether the format prints an integer; whole numbers take the types of floats, too.
DISTRIBUTE_INLINE bool prints_integer(const NumberFormat& format, bool is_whole) {
  return is_whole && (is_integer_type(format.type) || !format.type || format.type == 'n');
}

DISTRIBUTE_INLINE void check_format(const NumberFormat& format, bool is_whole,
                                    std::string_view text) {
  const bool integer = prints_integer(format, is_whole);
  if ((integer && format.precision >= 0) || (!is_whole && is_integer_type(format.type)) ||
      (format.grouping && format.type == 'n') ||
      (format.grouping == ',' && is_among(format.type, "boxX")))
    throw no_format(text);
}

DISTRIBUTE_INLINE NumberParts parts_of(const NumberFormat& format, double value, bool is_whole) {
  const bool negative = std::signbit(value) && !std::isnan(value);
  NumberParts parts;
  parts.sign = negative ? "-" : format.sign == '-' ? "" : std::string(1, format.sign);
  if (prints_integer(format, is_whole)) {
    parts.digits = integer_text(int64_t(std::abs(value)), format.type);
    if (format.alternate && is_among(format.type, "boxX")) parts.prefix = {'0', format.type};
    return parts;
  }
  const std::string text = float_text(format, std::abs(value));
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  parts.digits = text.substr(0, digits);
  parts.rest = text.substr(digits);
  return parts;
}

DISTRIBUTE_INLINE std::string grouped(std::string digits, const NumberFormat& format) {
  const size_t every = is_among(format.type, "boxX") ? 4 : 3;
  for (size_t at = digits.size(); format.grouping && at > every;) {
    at -= every;
    digits.insert(at, 1, format.grouping);
  }
  return digits;
}

/// Formats one value as Python's format does.
DISTRIBUTE_INLINE std::string format_figure(const std::string& text, double value, bool is_whole) {
  const NumberFormat format = parsed_format(text);
  check_format(format, is_whole, text);
  NumberParts parts = parts_of(format, value, is_whole);
  const auto width = size_t(format.width);
  const auto size = [&] {
    return parts.sign.size() + parts.prefix.size() + grouped(parts.digits, format).size() +
           parts.rest.size();
  };
  if (format.fill == '0' && format.align == '=')
    while (size() < width) parts.digits.insert(0, 1, '0');
  const size_t missing = width > size() ? width - size() : 0;
  const std::string head = parts.sign + parts.prefix,
                    body = grouped(parts.digits, format) + parts.rest;
  const auto fill = [&](size_t count) { return std::string(count, format.fill); };
  switch (format.align) {
    case '<': return head + body + fill(missing);
    case '=': return head + fill(missing) + body;
    case '^': return fill(missing / 2) + head + body + fill(missing - missing / 2);
    default: return fill(missing) + head + body;
  }
}

/// Formats a field between braces: name[!conversion][:format].
DISTRIBUTE_INLINE std::string format_field(const std::string& pattern, const std::string& field,
                                           const train::Logs& values) {
  const size_t colon = std::min(field.find(':'), field.size());
  std::string name = field.substr(0, colon);
  const bool is_text = name.ends_with("!r") || name.ends_with("!s");
  if (is_text) name.resize(name.size() - 2);
  const double* value = values.find(name);
  if (!value)
    throw InvalidArgumentError(str_cat("Failed to format this callback filepath: \"", pattern,
                                       "\". Reason: there is no '", name,
                                       "'; there are: ", values.names()));
  const std::string format = colon < field.size() ? field.substr(colon + 1) : "";
  if (is_text && !format.empty()) throw no_format(format);
  return format_figure(format, *value, name == "epoch" || name == "batch");
}

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE std::string format_figures(const std::string& pattern, const Logs& values) {
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if ((c == '{' || c == '}') && i + 1 < pattern.size() && pattern[i + 1] == c) {
      text += pattern[i++];
      continue;
    }
    if (c == '}') throw InvalidArgumentError("'" + pattern + "': a '}' has no '{'");
    if (c != '{') {
      text += c;
      continue;
    }
    const size_t end = pattern.find('}', i);
    if (end == std::string::npos) throw InvalidArgumentError("'" + pattern + "': a '{' has no '}'");
    text += train_internal::format_field(pattern, pattern.substr(i + 1, end - i - 1), values);
    i = end;
  }
  return text;
}

}  // namespace distribute::train
