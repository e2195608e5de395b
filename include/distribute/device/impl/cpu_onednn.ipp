#pragma once
#if DISTRIBUTE_HAS_ONEDNN
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cpu_onednn.hpp>
#include <distribute/device/detail/cpu_onednn_plan.hpp>
#include <distribute/device/detail/cpu_onednn_product.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/detail/own_convolutions.hpp>
#include <distribute/device/detail/plain_product.hpp>

#include <cstring>
#include <utility>

namespace distribute {

namespace onednn_internal {

using dnnl::convolution_backward_data;
using dnnl::convolution_backward_weights;
using dnnl::convolution_forward;

/// Row-major descriptors of a convolution's tensors in oneDNN's axis order.
struct ConvDescs {
  Desc x, w, y, bias;
  Desc master;  // w as callers keep it, in float32
  Dims stride, dilation, pad_before, pad_after;

  explicit ConvDescs(const Conv2DShape& s) {
    const auto type = data_type_of(s.dtype);
    const int64_t ci = s.in_channels / s.groups, co = s.out_channels / s.groups, k = s.out_channels;
    const int64_t kh = s.kernel[0], kw = s.kernel[1];
    x = Desc({s.batch, s.in_channels, s.in[0], s.in[1]}, type, Tag::nhwc);
    y = Desc({s.batch, k, s.out[0], s.out[1]}, type, Tag::nhwc);
    const auto filters = [&](Memory::data_type its) {
      return s.groups == 1
                 ? Desc({k, ci, kh, kw}, its, Tag::hwio)
                 : Desc({s.groups, co, ci, kh, kw}, its, Dims{co, 1, k, kw * ci * k, ci * k});
    };
    w = filters(type);
    master = filters(Memory::data_type::f32);
    bias = Desc({k}, Memory::data_type::f32, Tag::a);
    stride = {s.stride[0], s.stride[1]};
    dilation = {s.dilation[0] - 1, s.dilation[1] - 1};
    pad_before = {s.pad_before[0], s.pad_before[1]};
    pad_after = {s.pad_after[0], s.pad_after[1]};
  }

  convolution_forward::primitive_desc forward(bool with_bias, Epilogue epilogue) const {
    return describe<convolution_forward>(attributes(epilogue), dnnl::prop_kind::forward_training,
                                         dnnl::algorithm::convolution_direct, any(x), any(w),
                                         with_bias ? bias : Desc(), any(y), stride, dilation,
                                         pad_before, pad_after);
  }
};

/// The backend itself. Thread-safe.
class OneDnnBackend final : public Backend {
 public:
  std::string name() const override { return "onednn"; }
  bool supports(DType dtype) const override {
    return dtype == DType::Float32 ||
           (dtype == DType::BFloat16 && has_instructions(dnnl::cpu_isa::avx512_core));
  }
  bool multiplies(DType dtype) const override {
    return dtype == DType::Float32 || (is_half(dtype) && !half_product_kernel(dtype).empty());
  }
  DISTRIBUTE_INLINE Array conv2d(const Conv2DShape& s, const Array& x, const Array& w,
                                 const Array* bias, Epilogue epilogue) override;
  DISTRIBUTE_INLINE Array conv2d_backprop_input(const Conv2DShape& s, const Array& dy,
                                                const Array& w) override;
  DISTRIBUTE_INLINE Array conv2d_backprop_filter(const Conv2DShape& s, const Array& x,
                                                 const Array& dy, Array* bias_gradient) override;
  DISTRIBUTE_INLINE Array matmul(const MatmulShape& s, const Array& a, const Array& b,
                                 const Array* bias, Epilogue epilogue) override;
  DISTRIBUTE_INLINE void product_rows(const MatmulShape& s, const float* a, const float* b,
                                      int64_t begin, int64_t end, float* rows) override;
};

DISTRIBUTE_INLINE Array OneDnnBackend::conv2d(const Conv2DShape& s, const Array& x, const Array& w,
                                              const Array* bias, Epilogue epilogue) {
  if (s.batch == 0) return make_array(0, x.buffer->device());
  const auto fill = [&](Plan& plan) {
    const ConvDescs descs(s);
    const auto pd = descs.forward(bias != nullptr, epilogue);
    plan.inputs[0] = slot(x, descs.x, pd.src_desc());
    plan.inputs[1] = slot(w, descs.master, pd.weights_desc());
    plan.bias = descs.bias;
    finish_plan<convolution_forward>(plan, pd, "convolution_forward", pd.dst_desc(), pd.dst_desc(),
                                     descs.y);
  };
  const int flags = (bias ? 1 : 0) + 2 * int(epilogue);
  return execute(*find_or_make(key_of('c', s, x, w, flags), x, w, fill), x, w, bias);
}

/// Whether these are float32 1x1 filters over every pixel: the backward pass is then a forward pass
/// with exchanged channels, for which oneDNN's kernels for AVX2 are 10 % faster.
DISTRIBUTE_INLINE bool is_turnable(const Conv2DShape& s) {
  using Pair = Conv2DShape::Pair;
  return simd_level() == 1 && s.dtype == DType::Float32 && s.groups == 1 &&
         s.kernel == Pair{1, 1} && s.stride == Pair{1, 1} && s.pad_before == Pair{} &&
         s.pad_after == Pair{};
}

/// Computes dx as the forward convolution of dy with the transposed filters.
DISTRIBUTE_INLINE Array turned_backprop_input(const Conv2DShape& s, const Array& dy,
                                              const Array& w) {
  const auto fill = [&](Plan& plan) {
    Conv2DShape turned = s;
    std::swap(turned.in_channels, turned.out_channels);
    const ConvDescs there(s), back(turned);
    const auto pd = back.forward(false, Epilogue::None);
    const Desc filters = desc_of(w, there.master).permute_axes({1, 0, 2, 3});
    plan.inputs[0] = slot(dy, back.x, pd.src_desc());
    plan.inputs[1] = {filters, pd.weights_desc(), same_placement(filters, pd.weights_desc())};
    finish_plan<convolution_forward>(plan, pd, "convolution_forward for 1x1 backward data",
                                     pd.dst_desc(), pd.dst_desc(), back.y);
  };
  return execute(*find_or_make(key_of('t', s, dy, w, 0), dy, w, fill), dy, w, nullptr);
}

DISTRIBUTE_INLINE Array OneDnnBackend::conv2d_backprop_input(const Conv2DShape& s, const Array& dy,
                                                             const Array& w) {
  if (s.batch == 0) return make_array(0, dy.buffer->device());
  if (is_product(s, dy, w)) return product_backprop_input(s, dy, w);
  if (is_turnable(s)) return turned_backprop_input(s, dy, w);
  const auto fill = [&](Plan& plan) {
    const ConvDescs descs(s);
    const auto pd = describe_backward<convolution_backward_data>(
        descs.forward(false, Epilogue::None), dnnl::algorithm::convolution_direct, any(descs.x),
        any(descs.w), any(descs.y), descs.stride, descs.dilation, descs.pad_before,
        descs.pad_after);
    plan.inputs[0] = slot(dy, descs.y, pd.diff_dst_desc());
    plan.inputs[1] = slot(w, descs.master, pd.weights_desc());
    plan.input_args[0] = DNNL_ARG_DIFF_DST;
    plan.output_arg = DNNL_ARG_DIFF_SRC;
    finish_plan<convolution_backward_data>(plan, pd, "convolution_backward_data",
                                           pd.diff_src_desc(), pd.diff_src_desc(), descs.x);
  };
  return execute(*find_or_make(key_of('d', s, dy, w, 0), dy, w, fill), dy, w, nullptr);
}

DISTRIBUTE_INLINE LayoutPtr direct_gradient_layout(const Conv2DShape& s) {
  if (s.kernel != Conv2DShape::Pair{1, 1}) return nullptr;
  const auto fill = [&](Plan& plan) {
    const ConvDescs descs(s);
    const Desc wanted = descs.forward(false, Epilogue::None).weights_desc();
    const Desc ours(blocking_of(descs.w).dims, Memory::data_type::f32, Tag::OIhw8i8o);
    if (same_placement(wanted, ours))
      plan.layout = std::make_shared<OneDnnLayout>(ours, descs.master);
  };
  return find_or_make(key_of('g', s, Array{}, Array{}, 0), Array{}, Array{}, fill)->layout;
}

DISTRIBUTE_INLINE Array zeros(int64_t count, Device device) {
  Array result = make_array(count * size_of(DType::Float32), device);
  std::memset(result.bytes(), 0, size_t(count) * sizeof(float));
  return result;
}

DISTRIBUTE_INLINE Array OneDnnBackend::conv2d_backprop_filter(const Conv2DShape& s, const Array& x,
                                                              const Array& dy,
                                                              Array* bias_gradient) {
  if (s.batch == 0) {
    if (bias_gradient) *bias_gradient = zeros(s.out_channels, x.buffer->device());
    return zeros(s.kernel[0] * s.kernel[1] * (s.in_channels / s.groups) * s.out_channels,
                 x.buffer->device());
  }
  if (!bias_gradient && (is_product(s, x, dy) || writes_windows_out(s, x, dy)))
    return product_backprop_filter(s, x, dy);
  const auto fill = [&](Plan& plan) {
    const ConvDescs descs(s);
    const auto forward = descs.forward(bias_gradient != nullptr, Epilogue::None);
    const auto pd = describe_backward<convolution_backward_weights>(
        forward, dnnl::algorithm::convolution_direct, any(descs.x), any(descs.master),
        bias_gradient ? descs.bias : Desc(), any(descs.y), descs.stride, descs.dilation,
        descs.pad_before, descs.pad_after);
    plan.inputs[0] = slot(x, descs.x, pd.src_desc());
    plan.inputs[1] = slot(dy, descs.y, pd.diff_dst_desc());
    plan.input_args[1] = DNNL_ARG_DIFF_DST;
    plan.output_arg = DNNL_ARG_DIFF_WEIGHTS;
    plan.bias_arg = DNNL_ARG_DIFF_BIAS;
    plan.bias = descs.bias;
    // Gradients have the forward kernel's arrangement, as the variable has the same one. The
    // filters of a bfloat16 kernel are converted anyway.
    const bool same_type = s.dtype == DType::Float32;
    finish_plan<convolution_backward_weights>(
        plan, pd, "convolution_backward_weights", pd.diff_weights_desc(),
        same_type ? forward.weights_desc() : pd.diff_weights_desc(), descs.master);
  };
  if (bias_gradient)
    *bias_gradient = make_array(s.out_channels * size_of(DType::Float32), x.buffer->device());
  const std::string key = key_of('w', s, x, dy, bias_gradient ? 1 : 0);
  return execute(*find_or_make(key, x, dy, fill), x, dy, bias_gradient);
}

DISTRIBUTE_INLINE void OneDnnBackend::product_rows(const MatmulShape& s, const float* a,
                                                   const float* b, int64_t begin, int64_t end,
                                                   float* rows) {
  require_room_for_code();  // the first product of each kind makes code
  const auto status = dnnl_sgemm('T', 'N', end - begin, s.columns, s.inner, 1, a + begin, s.rows, b,
                                 s.columns, 0, rows, s.columns);
  dnnl::error::wrap_c_api(status, "could not execute gemm");
}

DISTRIBUTE_INLINE Array OneDnnBackend::matmul(const MatmulShape& s, const Array& a, const Array& b,
                                              const Array* bias, Epilogue epilogue) {
  const bool empty = s.batch * s.rows * s.columns * s.inner == 0;
  if (!is_floating(s.dtype) || empty)
    return device_internal::plain_product(s, a, b, bias, epilogue);
  if (!bias && epilogue == Epilogue::None && is_small_batch_gradient(s)) {
    // For such products oneDNN's gemm is up to 2.8 times as fast as its matmul (docs/decisions.md).
    Array result = make_array(s.rows * s.columns * size_of(s.dtype), a.buffer->device());
    product_rows(s, a.data<float>(), b.data<float>(), 0, s.rows, result.data<float>());
    return result;
  }
  return matrix_product(s, a, b, bias, epilogue);
}

struct CpuBackends {
  OneDnnBackend plain;
  std::unique_ptr<Backend> faster = with_own_convolutions(plain);
};

}  // namespace onednn_internal

DISTRIBUTE_INLINE Backend* onednn_backend() {
  return in_process<onednn_internal::CpuBackends>().faster.get();
}

DISTRIBUTE_INLINE Backend& built_in_backend() { return *onednn_backend(); }

DISTRIBUTE_INLINE std::string cpu_products_of_half() {
  return onednn_internal::half_products_text();
}

DISTRIBUTE_INLINE void cpu_multiply_block(const CpuBlockProduct& shape, const void* a,
                                          const void* b, void* c) {
  onednn_internal::multiply_block(shape, a, b, c);
}

DISTRIBUTE_INLINE std::vector<std::string> onednn_kernels_in_use() {
  auto& cache = onednn_internal::plan_cache();
  std::shared_lock lock(cache.mutex);
  return {cache.kernels.begin(), cache.kernels.end()};
}

}  // namespace distribute
#endif
