#pragma once
/// Arrays of bfloat16 to and from float32, by loops that vectorise.

#include <distribute/base/config.hpp>
#include <distribute/device/dtype.hpp>

#include <cstdint>

namespace distribute::device_internal {

/// Rounds to nearest even, as bfloat16's constructor does.
void round_to_bfloat16(const float* from, bfloat16* to, int64_t count);
void widen_bfloat16(const bfloat16* from, float* to, int64_t count);

}  // namespace distribute::device_internal
