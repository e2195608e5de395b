#pragma once
/// Sizes of the expensive operations: convolution and matrix products.

#include <distribute/base/config.hpp>
#include <distribute/device/dtype.hpp>

#include <array>
#include <cstdint>

namespace distribute {

/// A 2-D convolution: x [batch, in[0], in[1], in_channels], kernel [kernel[0], kernel[1],
/// in_channels / groups, out_channels], y [batch, out[0], out[1], out_channels].
/// Pairs are (height, width). `dilation` 1 is an ordinary kernel.
struct Conv2DShape {
  using Pair = std::array<int64_t, 2>;
  DType dtype = DType::Float32;
  int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;
  Pair in{}, out{}, kernel{}, stride{1, 1}, dilation{1, 1}, pad_before{}, pad_after{};
  bool operator==(const Conv2DShape&) const = default;
};

/// Sizes of c[b] = op(a[b]) op(b[b]): op(a) is [rows, inner], op(b) [inner, columns]. Both are
/// row-major as stored, and transposed when asked.
struct MatmulShape {
  DType dtype = DType::Float32;
  int64_t batch = 1, rows = 0, columns = 0, inner = 0;
  bool transpose_a = false, transpose_b = false;
  bool float32_result = false;  // of 16-bit operands, whose results are else rounded to their type
  bool operator==(const MatmulShape&) const = default;
};

}  // namespace distribute
