#pragma once
/// printf's form of a number, for what machines read.

#include <distribute/base/config.hpp>

#include <string>

namespace distribute::base_internal {

/// As printf for one double in the "C" locale, whatever locale the program has set; `format` has
/// one conversion, such as "%.2f".
std::string printed_number(const std::string& format, double value);

}  // namespace distribute::base_internal
