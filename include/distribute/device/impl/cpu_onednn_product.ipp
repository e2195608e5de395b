#pragma once
#if DISTRIBUTE_HAS_ONEDNN
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/cpu_onednn_plan.hpp>
#include <distribute/device/detail/cpu_onednn_product.hpp>

#include <algorithm>
#include <cstring>

namespace distribute::onednn_internal {

DISTRIBUTE_INLINE bool is_product(const Conv2DShape& s, const Array& a, const Array& b) {
  using Pair = Conv2DShape::Pair;
  return s.dtype == DType::BFloat16 && s.groups == 1 && s.kernel == Pair{1, 1} &&
         s.pad_before == Pair{} && s.pad_after == Pair{} && !a.layout && !b.layout;
}

/// Puts compact bfloat16 pixels where strides reach them in an image.
DISTRIBUTE_INLINE void spread_strided(const Conv2DShape& s, const Array& compact,
                                      const Array& image) {
  const size_t bytes = size_t(s.in_channels) * 2;
  parallel_for(s.batch * s.out[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t y = row / s.out[0] * s.in[0] + row % s.out[0] * s.stride[0];
      for (int64_t x = 0; x < s.out[1]; ++x)
        std::memcpy(image.bytes() + size_t(y * s.in[1] + x * s.stride[1]) * bytes,
                    compact.bytes() + size_t(row * s.out[1] + x) * bytes, bytes);
    }
  });
}

/// A plan of dst = a * b, all row-major but b's own arrangement; made once for each key.
struct ProductDescs {
  Desc a, given_b, wanted_b, dst;
};
DISTRIBUTE_INLINE PlanPtr make_product(const char* name, const ProductDescs& d) {
  auto plan = std::make_shared<Plan>();
  const auto pd = describe<dnnl::matmul>(attributes(Epilogue::None), d.a, d.wanted_b, d.dst);
  plan->inputs[0] = {d.a, d.a, true};
  plan->inputs[1] = {d.given_b, pd.weights_desc(), same_placement(d.given_b, pd.weights_desc())};
  plan->input_args[0] = DNNL_ARG_SRC;
  plan->input_args[1] = DNNL_ARG_WEIGHTS;
  plan->output_arg = DNNL_ARG_DST;
  finish_plan<dnnl::matmul>(*plan, pd, name, d.dst, d.dst, d.dst);
  return plan;
}

DISTRIBUTE_INLINE Array product_backprop_input(const Conv2DShape& s, const Array& dy,
                                               const Array& w) {
  const int64_t pixels = s.batch * s.out[0] * s.out[1], ci = s.in_channels, co = s.out_channels;
  const auto make = [&] {
    const auto half = Memory::data_type::bf16;
    return make_product(
        "matmul for 1x1 backward data",
        {Desc({pixels, co}, half, Tag::ab), Desc({co, ci}, Memory::data_type::f32, Dims{1, co}),
         Desc({co, ci}, half, Tag::any), Desc({pixels, ci}, half, Tag::ab)});
  };
  Array dx = execute(*find_or_make(key_of('D', s, dy, w, 0), dy, w, make), dy, w, nullptr);
  if (s.in == s.out) return dx;
  Array large = make_array(s.batch * s.in[0] * s.in[1] * ci * 2, dy.buffer->device());
  std::memset(large.bytes(), 0, size_t(s.batch * s.in[0] * s.in[1] * ci * 2));
  spread_strided(s, dx, large);
  return large;
}

DISTRIBUTE_INLINE bool writes_windows_out(const Conv2DShape& s, const Array& x, const Array& dy) {
  using Pair = Conv2DShape::Pair;
  constexpr int64_t kMostBytes = 64 << 20;
  const int64_t window = s.kernel[0] * s.kernel[1] * s.in_channels;
  return s.dtype == DType::BFloat16 && s.groups == 1 && s.dilation == Pair{1, 1} && !x.layout &&
         !dy.layout && (s.in_channels >= 256 || s.in_channels < 16) &&
         s.batch * s.out[0] * s.out[1] * window * 2 <= kMostBytes;
}

/// Copies one row of a window, `columns` pixels from column x of an image row (null: outside of the
/// image), with zeros where it hangs over the border.
DISTRIBUTE_INLINE void copy_window_row(const char* row, int64_t width, int64_t x, int64_t columns,
                                       size_t pixel_bytes, char* to) {
  const int64_t first = row ? std::clamp<int64_t>(-x, 0, columns) : columns;
  const int64_t last = std::clamp<int64_t>(width - x, first, columns);
  std::memset(to, 0, size_t(first) * pixel_bytes);
  if (last > first)
    std::memcpy(to + size_t(first) * pixel_bytes, row + size_t(x + first) * pixel_bytes,
                size_t(last - first) * pixel_bytes);
  std::memset(to + size_t(last) * pixel_bytes, 0, size_t(columns - last) * pixel_bytes);
}

/// [batch * out, kernel height * kernel width * in_channels] of bfloat16.
DISTRIBUTE_INLINE Array windows_of(const Conv2DShape& s, const Array& x) {
  const size_t pixel = size_t(s.in_channels) * 2;
  const size_t line = size_t(s.kernel[1]) * pixel;
  Array windows =
      make_array(s.batch * s.out[0] * s.out[1] * s.kernel[0] * int64_t(line), x.buffer->device());
  parallel_for(s.batch * s.out[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      char* to = windows.bytes() + size_t(row * s.out[1] * s.kernel[0]) * line;
      const int64_t image = row / s.out[0], top = row % s.out[0] * s.stride[0] - s.pad_before[0];
      for (int64_t ox = 0; ox < s.out[1]; ++ox)
        for (int64_t ky = 0; ky < s.kernel[0]; ++ky, to += line) {
          const bool inside = top + ky >= 0 && top + ky < s.in[0];
          const char* from =
              inside ? x.bytes() + size_t((image * s.in[0] + top + ky) * s.in[1]) * pixel : nullptr;
          copy_window_row(from, s.in[1], ox * s.stride[1] - s.pad_before[1], s.kernel[1], pixel,
                          to);
        }
    }
  });
  return windows;
}

DISTRIBUTE_INLINE Array product_backprop_filter(const Conv2DShape& s, const Array& x,
                                                const Array& dy) {
  const int64_t pixels = s.batch * s.out[0] * s.out[1], co = s.out_channels;
  const int64_t window = s.kernel[0] * s.kernel[1] * s.in_channels;
  const Array windows = window == s.in_channels && s.in == s.out ? x : windows_of(s, x);
  const auto make = [&] {
    const auto half = Memory::data_type::bf16;
    const Desc right({pixels, co}, half, Tag::ab);
    return make_product("matmul for backward weights",
                        {Desc({window, pixels}, half, Dims{1, window}), right, right,
                         Desc({window, co}, Memory::data_type::f32, Tag::ab)});
  };
  const std::string key = key_of('W', s, windows, dy, 0);
  return execute(*find_or_make(key, windows, dy, make), windows, dy, nullptr);
}

}  // namespace distribute::onednn_internal
#endif
