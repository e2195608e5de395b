#pragma once
/// The copy loop that transpose, slice, concat and pad share; it copies bytes of any element type.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <vector>

namespace distribute::ops_internal {

inline constexpr int64_t kCopyGrain = 1 << 17;  // smallest number of bytes for a thread

/// One axis of a copy; steps are in elements and may be zero or negative.
struct CopyAxis {
  int64_t size = 1, from_step = 0, to_step = 0;
};

/// Copies the elements that `axes` (outermost first) span, starting at `from` and `to`, both on
/// `device`.
void strided_copy(Device device, std::vector<CopyAxis> axes, const char* from, char* to,
                  int64_t element_bytes);

/// Returns the distance in elements between neighbours along each axis of a row-major tensor.
std::vector<int64_t> row_major_steps(const Shape& shape);

}  // namespace distribute::ops_internal
