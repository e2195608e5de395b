#pragma once
/// Random secrets.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <string>

namespace distribute::launch {

/// Returns hexadecimal digits from the system's source of random numbers; `digits` is even, at most
/// 512.
std::string random_hex(size_t digits);

}  // namespace distribute::launch
