#pragma once
/// Lines that TensorFlow's estimators and sessions log, in the form that programs search for.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace distribute::train_internal {

/// Writes the line to `out` at once; does nothing if `out` is null.
void print_line(std::FILE* out, const std::string& line);

/// Formats a figure as Python prints a numpy.float32, such as 1.1404545, 2.0 and 1e-05.
std::string figure_text(double value);

/// Formats as "%.3f" with that many digits, whatever locale the program has set.
std::string fixed_text(double value, int digits);

/// Formats an optional number as Python does, with None for no value.
std::string number_or_none(const std::optional<double>& value);
std::string number_or_none(const std::optional<int64_t>& value);

}  // namespace distribute::train_internal
