#pragma once
/// Numbers in text for programs: with a decimal point, whatever locale the program has set.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace distribute::base_internal {

/// Formats as printf's "%.9g" in the "C" locale: a float reads back as the same number.
std::string nine_digits(double value);

/// Writes a number as Python does: the fewest digits that give it again, "0.1", "1e-05", "3.0".
std::string python_number(double value);

/// Returns the number at the beginning of `text`, as strtod in the "C" locale; 0 if there is none.
/// `used` gets its length, with blanks before it.
double leading_number(std::string_view text, size_t* used = nullptr);

/// Formats one double as printf in the "C" locale, whatever locale the program has set; `format`
/// has one conversion, such as "%.2f".
std::string printed_number(const std::string& format, double value);

}  // namespace distribute::base_internal
