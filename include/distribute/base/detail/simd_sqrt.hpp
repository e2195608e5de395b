#pragma once
/// Square roots of many floats at once: std::sqrt keeps a loop scalar because it sets errno.

#include <distribute/base/config.hpp>

#include <cstdint>

namespace distribute {

/// Computes to[i] = sqrt(from[i]), correctly rounded; `from` and `to` may be the same.
void simd_sqrt(const float* from, float* to, int64_t count);

}  // namespace distribute
