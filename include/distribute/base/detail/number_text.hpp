#pragma once
/// Numbers in what machines read: with a decimal point, whatever locale the program has set.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace distribute::base_internal {

/// As printf's "%.9g" in the "C" locale: a float reads back as itself.
std::string nine_digits(double value);

/// The number that `text` begins with, as strtod in the "C" locale; 0 for none. `used` gets the
/// length of it, with blanks before it.
double leading_number(std::string_view text, size_t* used = nullptr);

/// As printf for one double in the "C" locale, whatever locale the program has set; `format` has
/// one conversion, such as "%.2f".
std::string printed_number(const std::string& format, double value);

}  // namespace distribute::base_internal
