#pragma once
/// The CPU backend of programs without oneDNN: Eigen's matrix product, convolution by im2col.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/backend.hpp>

namespace distribute {

/// Row-major in, row-major out; float32 everywhere, int32 and int64 in matmul. A program with
/// oneDNN has it in the static library alone, where tests compare the two.
Backend& eigen_backend();

}  // namespace distribute
