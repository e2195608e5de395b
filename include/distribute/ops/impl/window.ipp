#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/convolution.hpp>

#include <algorithm>

namespace distribute {

DISTRIBUTE_INLINE WindowAxis window_axis(const char* op, int64_t in, int64_t kernel, int64_t stride,
                                         int64_t dilation, Padding padding, int64_t before,
                                         int64_t after) {
  if (kernel < 1 || stride < 1 || dilation < 1 || before < 0 || after < 0)
    throw InvalidArgumentError(str_cat(op, ": window ", kernel, ", stride ", stride,
                                       " and dilation ", dilation,
                                       " must be at least 1, padding at least 0"));
  const int64_t span = (kernel - 1) * dilation + 1;
  if (padding == Padding::Same) {
    const int64_t out = (in + stride - 1) / stride;
    const int64_t total = std::max<int64_t>((out - 1) * stride + span - in, 0);
    return {out, total / 2, total - total / 2};
  }
  if (padding == Padding::Valid) before = after = 0;
  const int64_t padded = in + before + after;
  if (padded < span)
    throw InvalidArgumentError(
        str_cat(op, ": a window of ", span, " does not fit into ", padded, " elements"));
  return {(padded - span) / stride + 1, before, after};
}

}  // namespace distribute
