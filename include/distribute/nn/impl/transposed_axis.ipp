#pragma once
#include <distribute/nn/detail/transposed_axis.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/slicing.hpp>

#include <algorithm>
#include <vector>

namespace distribute::nn::nn_internal {

DISTRIBUTE_INLINE TransposedAxis transposed_axis(const TransposedWindow& w, Padding padding) {
  const int64_t kernel = (w.kernel - 1) * w.dilation + 1, reach = (w.steps - 1) * w.stride + kernel;
  if (padding == Padding::Valid)
    return {0, reach + w.output_padding.value_or(std::max(kernel, w.stride) - kernel)};
  const int64_t size = w.output_padding ? (w.steps - 1) * w.stride + kernel % 2 + *w.output_padding
                                        : w.steps * w.stride;
  if ((size + w.stride - 1) / w.stride != w.steps)
    throw InvalidArgumentError(str_cat("output_padding ", *w.output_padding,
                                       " with an even kernel and padding \"same\" gives ", size,
                                       " elements, of which the convolution does not make ",
                                       w.steps, "; take another output_padding"));
  return {std::max<int64_t>(reach - size, 0) / 2, size};
}

DISTRIBUTE_INLINE Tensor take_transposed(const Tensor& x, int axis, const TransposedAxis& kept) {
  const int64_t had = x.shape()[axis], end = kept.begin + kept.size;
  if (kept.begin == 0 && end == had) return x;
  std::vector<Range> part(size_t(axis) + 1);
  part.back() = {.begin = kept.begin, .end = std::min(end, had)};
  const Tensor y = strided_slice(x, part);
  if (end <= had) return y;
  std::vector<AxisPadding> behind(size_t(x.shape().rank()), AxisPadding{0, 0});
  behind[size_t(axis)] = {0, end - had};
  return pad(y, behind);
}

DISTRIBUTE_INLINE void refuse_explicit(const char* layer, Padding padding) {
  if (padding == Padding::Explicit)
    throw InvalidArgumentError(
        str_cat(layer, ": padding is Valid or Same; put a ZeroPadding layer before it instead"));
}

DISTRIBUTE_INLINE void check_output_padding(const char* layer,
                                            std::optional<int64_t> output_padding, int64_t stride) {
  if (output_padding && (*output_padding < 0 || *output_padding >= stride))
    throw InvalidArgumentError(
        str_cat(layer, ": `output_padding` must be at least 0 and less than `strides`, got ",
                *output_padding, " with strides ", stride));
}

}  // namespace distribute::nn::nn_internal
