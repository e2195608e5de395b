#pragma once
/// The CPU backend of programs without oneDNN: Eigen's matrix product, convolution by im2col.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/backend.hpp>

namespace distribute {

/// The Eigen backend. It takes and gives row-major arrays in float32, and in matmul also int32 and
/// int64. A program with oneDNN has this backend in the static library alone, where tests compare
/// the two.
Backend& eigen_backend();

}  // namespace distribute
