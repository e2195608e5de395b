#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/math.hpp>

#include <algorithm>
#include <vector>

namespace distribute {

namespace ops_internal {

DISTRIBUTE_INLINE int64_t transposed_size(int64_t size, int64_t kernel, int64_t stride,
                                          int64_t dilation, Padding padding) {
  const int64_t reach = kernel + (kernel - 1) * (dilation - 1);
  return size * stride + (padding == Padding::Valid ? std::max<int64_t>(reach - stride, 0) : 0);
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor nn::conv2d_transpose(const Tensor& x, const Tensor& filters,
                                              const Conv2DOptions& options, const Tensor& bias) {
  using namespace ops_internal;
  if (const Device device = device_of({x, filters}); lie_apart(x, filters))
    return conv2d_transpose(carried_to(x, device), carried_to(filters, device), options,
                            carried_to(bias, device));
  const Shape &s = x.shape(), &f = filters.shape();
  if (options.padding == Padding::Explicit || options.groups != 1)
    throw UnimplementedError("conv2d_transpose: not with explicit paddings or groups");
  if (s.rank() != 4 || f.rank() != 4 || f[3] != s[3] || (bias && bias.shape() != Shape{f[2]}))
    throw InvalidArgumentError(str_cat(
        "conv2d_transpose: wants [batch, height, width, in] and filters [height, width, out, in], ",
        "got ", to_string(s), " and ", to_string(f),
        bias ? str_cat(" with a bias ", to_string(bias.shape())) : std::string()));
  if (!is_floating(x.dtype()))
    throw InvalidArgumentError(str_cat("conv2d_transpose: the input must be floating, got ",
                                       name_of(x.dtype()), "; cast() it first"));
  Shape result{s[0], 0, 0, f[2]};
  for (int i = 0; i < 2; ++i)
    result = result.with(1 + i, transposed_size(s[1 + i], f[i], options.strides[size_t(i)],
                                                options.dilations[size_t(i)], options.padding));
  Tensor y = conv2d_backprop_input(result, filters, x, options);
  if (bias) y = y + cast(bias, y.dtype());
  return record_composite("conv2d_transpose", {x, filters, bias}, y, [&] {
    const auto list = [](const auto& a) { return std::vector<int64_t>(a.begin(), a.end()); };
    return OpAttributes{{"strides", list(options.strides)},
                        {"padding", int64_t(options.padding)},
                        {"dilations", list(options.dilations)}};
  });
}

}  // namespace distribute
