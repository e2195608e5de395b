#pragma once
/// The CPU backend that is always there: Eigen's matrix product, convolution by im2col.

#include <distribute/base/config.hpp>
#include <distribute/device/backend.hpp>

namespace distribute {

/// Row-major in, row-major out; float32 everywhere, int32 and int64 in matmul.
Backend& eigen_backend();

}  // namespace distribute
