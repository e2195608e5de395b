#pragma once
/// The pass in which a transformation reads one element to find out what its results look like.

#include <distribute/base/config.hpp>

#include <cstdint>

namespace distribute::data {

/// Number of that pass, also of its parts. A source whose elements others read, too, takes nothing
/// from them in it.
inline constexpr uint64_t kSpecPass = UINT64_MAX;

}  // namespace distribute::data
