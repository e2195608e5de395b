#pragma once
#if DISTRIBUTE_HAS_ONEDNN
#include <distribute/base/logging.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cpu_onednn_plan.hpp>
#include <distribute/device/detail/cpu_onednn_product.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace distribute::onednn_internal {

DISTRIBUTE_INLINE bool has_instructions(dnnl::cpu_isa needed) {
  const unsigned there = unsigned(dnnl::get_effective_cpu_isa());
  return simd_level() == 2 && (there & unsigned(needed)) == unsigned(needed);
}

DISTRIBUTE_INLINE bool has_instructions_for(DType half) {
#if DNNL_VERSION_MAJOR >= 3
  const auto needed =
      half == DType::BFloat16 ? dnnl::cpu_isa::avx512_core_bf16 : dnnl::cpu_isa::avx512_core_fp16;
#else
  if (half == DType::Float16) return false;  // oneDNN 2.6 does not multiply it on CPUs
  const auto needed = dnnl::cpu_isa::avx512_core_bf16;
#endif
  return has_instructions(needed);
}

DISTRIBUTE_INLINE std::string find_half_product_kernel(DType half) {
  if (!has_instructions_for(half)) return "";
  const Desc square({64, 64}, data_type_of(half), Tag::ab);
  try {
    const auto pd = describe<dnnl::matmul>(attributes(Epilogue::None), square, square, square);
    const std::string name = pd.impl_info_str();
    return name.starts_with("ref") ? "" : name;
  } catch (const dnnl::error&) {
    return "";
  }
}

struct HalfProductKernels {
  std::string bfloat16 = find_half_product_kernel(DType::BFloat16);
  std::string float16 = find_half_product_kernel(DType::Float16);

  std::string text() const {
    const auto way = [](const std::string& kernel) {
      return kernel.empty() ? " widened to float32" : " by oneDNN's " + kernel;
    };
    return str_cat("bfloat16", way(bfloat16), ", float16", way(float16));
  }
};

/// Logs the line about 16-bit products; made by the first use in a process.
struct HalfProductLine {
  HalfProductLine() {
    log(LogSeverity::Info, "device", str_cat("products of ", half_products_text()));
  }
};

DISTRIBUTE_INLINE const std::string& half_product_kernel(DType dtype) {
  in_process<HalfProductLine>();
  const HalfProductKernels& kernels = in_process<HalfProductKernels>();
  return dtype == DType::BFloat16 ? kernels.bfloat16 : kernels.float16;
}

DISTRIBUTE_INLINE std::string half_products_text() {
  return in_process<HalfProductKernels>().text();
}

DISTRIBUTE_INLINE bool is_small_batch_gradient(const MatmulShape& s) {
  return s.dtype == DType::Float32 && s.batch == 1 && s.transpose_a && !s.transpose_b &&
         s.inner <= 64;
}

/// Returns the distance between an operand's rows, of which `other` is the other operand's length.
/// A dense kernel's gradient reads its operands downwards: rows 4 KiB apart fall into few sets of a
/// cache, and the gemm for AVX2 takes twice as long for products with a short other side
/// (docs/decisions.md).
DISTRIBUTE_INLINE int64_t row_stride(const MatmulShape& s, int64_t length, int64_t other) {
  const bool downwards = s.batch == 1 && s.transpose_a && !s.transpose_b && s.inner >= 256;
  return simd_level() < 2 && downwards && length % 1024 == 0 && other <= 256 ? length + 16 : length;
}

DISTRIBUTE_INLINE void plan_product(Plan& plan, const MatmulShape& s, bool with_bias,
                                    Epilogue epilogue) {
  const auto type = data_type_of(s.dtype);
  const auto left_with = [&](int64_t stride) {
    const Dims plain{s.rows * s.inner, s.inner, 1}, turned{stride * s.inner, 1, stride};
    return Desc({s.batch, s.rows, s.inner}, type, s.transpose_a ? turned : plain);
  };
  const auto right_with = [&](int64_t stride) {
    const Dims plain{s.inner * stride, stride, 1}, turned{s.inner * s.columns, 1, s.inner};
    return Desc({s.batch, s.inner, s.columns}, type, s.transpose_b ? turned : plain);
  };
  const Desc left = left_with(row_stride(s, s.rows, s.columns));
  const Desc right = right_with(row_stride(s, s.columns, s.rows));
  const Desc result({s.batch, s.rows, s.columns}, s.float32_result ? Memory::data_type::f32 : type,
                    Tag::abc);
  plan.bias = Desc({1, 1, s.columns}, Memory::data_type::f32, Tag::abc);
  const auto attr = attributes(epilogue);
  const auto pd = with_bias ? describe<dnnl::matmul>(attr, left, right, plan.bias, result)
                            : describe<dnnl::matmul>(attr, left, right, result);
  plan.inputs[0] = {left_with(s.rows), left, left == left_with(s.rows)};
  plan.inputs[1] = {right_with(s.columns), right, right == right_with(s.columns)};
  finish_plan<dnnl::matmul>(plan, pd, "matmul", result, result, result);
}

/// Whether it is a dense layer of at least 1,024 rows, for which packing its kernel first costs
/// very little.
DISTRIBUTE_INLINE bool is_large_dense(const MatmulShape& s) {
  return simd_level() == 2 && s.batch == 1 && !s.transpose_a && !s.transpose_b &&
         !s.float32_result && s.rows >= 1024;
}

/// Plans the product as an inner product, whose kernels for AVX-512 are up to 13 % faster than
/// oneDNN's matmul, and for AMX up to twice as fast. Returns false if there is none for this shape.
DISTRIBUTE_INLINE bool plan_large_dense(Plan& plan, const MatmulShape& s, bool with_bias,
                                        Epilogue epilogue) {
  const auto type = data_type_of(s.dtype);
  const Desc x({s.rows, s.inner}, type, Tag::ab), y({s.rows, s.columns}, type, Tag::ab);
  const Desc given({s.columns, s.inner}, type, Dims{1, s.columns});
  plan.bias = Desc({s.columns}, Memory::data_type::f32, Tag::a);
  const auto attr = attributes(epilogue);
  const auto kind = dnnl::prop_kind::forward_training;
  const auto pd =
      with_bias ? describe<dnnl::inner_product_forward>(attr, kind, x, any(given), plan.bias, y)
                : describe<dnnl::inner_product_forward>(attr, kind, x, any(given), y);
  if (!std::string_view(pd.impl_info_str()).starts_with("brgemm")) return false;
  plan.inputs[0] = {x, x, true};
  plan.inputs[1] = {given, pd.weights_desc(), same_placement(given, pd.weights_desc())};
  finish_plan<dnnl::inner_product_forward>(plan, pd, "inner_product_forward", y, y, y);
  return true;
}

/// Whether it is the gradient of a dense kernel in float32, of 16-bit operands.
DISTRIBUTE_INLINE bool is_half_gradient(const MatmulShape& s) {
  return s.float32_result && s.batch == 1 && s.transpose_a && !s.transpose_b;
}

/// Plans it as the inner product's gradient, which takes at best half the time of oneDNN's matmul,
/// as that transposes x and packs dy (docs/decisions.md).
DISTRIBUTE_INLINE void plan_half_gradient(Plan& plan, const MatmulShape& s) {
  const auto half = data_type_of(s.dtype);
  const Desc x({s.inner, s.rows}, half, Tag::ab), dy({s.inner, s.columns}, half, Tag::ab);
  const Desc w({s.columns, s.rows}, half, Tag::any);
  const Desc dw({s.columns, s.rows}, Memory::data_type::f32, Dims{1, s.columns});
  const auto forward = describe<dnnl::inner_product_forward>(
      attributes(Epilogue::None), dnnl::prop_kind::forward_training, x, w, dy);
  const auto pd = describe_backward<dnnl::inner_product_backward_weights>(forward, x, dw, dy);
  plan.inputs[0] = {x, x, true};
  plan.inputs[1] = {dy, dy, true};
  plan.input_args[1] = DNNL_ARG_DIFF_DST;
  plan.output_arg = DNNL_ARG_DIFF_WEIGHTS;
  finish_plan<dnnl::inner_product_backward_weights>(plan, pd, "inner_product_backward_weights", dw,
                                                    dw, dw);
}

DISTRIBUTE_INLINE Array matrix_product(const MatmulShape& s, const Array& a, const Array& b,
                                       const Array* bias, Epilogue epilogue) {
  const bool gradient = is_half_gradient(s) && !bias && epilogue == Epilogue::None;
  const auto fill = [&](Plan& plan) {
    if (gradient) return plan_half_gradient(plan, s);
    if (is_large_dense(s) && plan_large_dense(plan, s, bias != nullptr, epilogue)) return;
    plan_product(plan, s, bias != nullptr, epilogue);
  };
  const int flags = (bias ? 1 : 0) + 2 * int(epilogue);
  return execute(*find_or_make(key_of('m', s, a, b, flags), a, b, fill), a, b, bias);
}

/// Makes oneDNN's operations of the calling thread run on it alone.
class OneThread {
 public:
  OneThread() { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_ = intra_op_threads();
};

DISTRIBUTE_INLINE void plan_block(Plan& plan, const CpuBlockProduct& s) {
  const auto matrix = [](int64_t rows, int64_t columns, Memory::data_type type, int64_t step,
                         bool turned) {
    return Desc({rows, columns}, type, turned ? Dims{1, step} : Dims{step, 1});
  };
  const auto half = data_type_of(s.dtype);
  const Desc left = matrix(s.rows, s.inner, half, s.a_step, s.transpose_a);
  const Desc right = matrix(s.inner, s.columns, half, s.b_step, s.transpose_b);
  const auto type = s.float32_result ? Memory::data_type::f32 : half;
  const Desc result = matrix(s.rows, s.columns, type, s.c_step, false);
  dnnl::primitive_attr attr = attributes(Epilogue::None);
  if (s.add) {
    dnnl::post_ops ops;
    ops.append_sum(1.0f);
    attr.set_post_ops(ops);
  }
  plan.inputs[0] = {left, left, true};
  plan.inputs[1] = {right, right, true};
  const auto pd = describe<dnnl::matmul>(attr, left, right, result);
  finish_plan<dnnl::matmul>(plan, pd, "matmul of blocks", result, result, result);
}

DISTRIBUTE_INLINE void multiply_block(const CpuBlockProduct& s, const void* a, const void* b,
                                      void* c) {
  const OneThread alone;
  const std::array<int64_t, 7> key{s.rows,   s.columns, s.inner,         s.a_step,
                                   s.b_step, s.c_step,  int64_t(s.dtype)};
  const int flags =
      int(s.transpose_a) + 2 * int(s.transpose_b) + 4 * int(s.float32_result) + 8 * int(s.add);
  const auto fill = [&](Plan& plan) { plan_block(plan, s); };
  const PlanPtr plan = find_or_make(key_of('b', key, Array{}, Array{}, flags), {}, {}, fill);
  const Array scratch = make_array(int64_t(plan->scratch.get_size()), Device{});
  const auto memory = [](const Desc& desc, const void* at) {
    return Memory(desc, engine(), const_cast<void*>(at));
  };
  plan->primitive.execute(stream(),
                          {{DNNL_ARG_SRC, memory(plan->inputs[0].wanted, a)},
                           {DNNL_ARG_WEIGHTS, memory(plan->inputs[1].wanted, b)},
                           {DNNL_ARG_DST, memory(plan->output, c)},
                           {DNNL_ARG_SCRATCHPAD, memory(plan->scratch, scratch.bytes())}});
  stream().wait();
}

DISTRIBUTE_INLINE bool is_product(const Conv2DShape& s, const Array& a, const Array& b) {
  using Pair = Conv2DShape::Pair;
  return s.dtype == DType::BFloat16 && s.groups == 1 && s.kernel == Pair{1, 1} &&
         s.pad_before == Pair{} && s.pad_after == Pair{} && !a.layout && !b.layout;
}

/// Copies compact bfloat16 pixels to the positions that strides reach in an image.
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
DISTRIBUTE_INLINE void fill_product(Plan& plan, const char* name, const ProductDescs& d) {
  const auto pd = describe<dnnl::matmul>(attributes(Epilogue::None), d.a, d.wanted_b, d.dst);
  plan.inputs[0] = {d.a, d.a, true};
  plan.inputs[1] = {d.given_b, pd.weights_desc(), same_placement(d.given_b, pd.weights_desc())};
  finish_plan<dnnl::matmul>(plan, pd, name, d.dst, d.dst, d.dst);
}

DISTRIBUTE_INLINE Array product_backprop_input(const Conv2DShape& s, const Array& dy,
                                               const Array& w) {
  const int64_t pixels = s.batch * s.out[0] * s.out[1], ci = s.in_channels, co = s.out_channels;
  const auto fill = [&](Plan& plan) {
    const auto half = Memory::data_type::bf16;
    fill_product(
        plan, "matmul for 1x1 backward data",
        {Desc({pixels, co}, half, Tag::ab), Desc({co, ci}, Memory::data_type::f32, Dims{1, co}),
         Desc({co, ci}, half, Tag::any), Desc({pixels, ci}, half, Tag::ab)});
  };
  Array dx = execute(*find_or_make(key_of('D', s, dy, w, 0), dy, w, fill), dy, w, nullptr);
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
/// image), with zeros beyond the border.
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

/// Returns [batch * out, kernel height * kernel width * in_channels] of bfloat16.
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
  const auto fill = [&](Plan& plan) {
    const auto half = Memory::data_type::bf16;
    const Desc right({pixels, co}, half, Tag::ab);
    fill_product(plan, "matmul for backward weights",
                 {Desc({window, pixels}, half, Dims{1, window}), right, right,
                  Desc({window, co}, Memory::data_type::f32, Tag::ab)});
  };
  const std::string key = key_of('W', s, windows, dy, 0);
  return execute(*find_or_make(key, windows, dy, fill), windows, dy, nullptr);
}

}  // namespace distribute::onednn_internal
#endif
