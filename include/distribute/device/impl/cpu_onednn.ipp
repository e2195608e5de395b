#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/cpu_eigen.hpp>
#include <distribute/device/cpu_onednn.hpp>
#include <distribute/device/cpu_onednn_layout.hpp>
#include <distribute/device/cpu_winograd.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <unordered_map>

namespace distribute {

namespace onednn_internal {

using Tag = Memory::format_tag;
using dnnl::convolution_backward_data;
using dnnl::convolution_backward_weights;
using dnnl::convolution_forward;

/// One place of a primitive: what the caller brings and what the primitive wants.
struct Slot {
  Desc given, wanted;
  bool ready = false;  // no reorder needed
};

/// A compiled operation with everything that repeats from call to call. Immutable once made.
struct Plan {
  dnnl::primitive primitive;
  Slot inputs[2];
  int input_args[2] = {};
  int output_arg = 0, bias_arg = 0;
  Desc output, bias, scratch;
  Desc final_output;  // the arrangement handed out; differs from `output` when reordered
  LayoutPtr layout;   // of final_output, null: row-major
};

using PlanPtr = std::shared_ptr<const Plan>;

/// All plans of the process, by a key of plain bytes. Thread-safe; holds on to layouts whose
/// addresses are part of keys.
struct PlanCache {
  std::shared_mutex mutex;  // guards everything below
  std::unordered_map<std::string, PlanPtr> plans;
  std::vector<LayoutPtr> keep_alive;
  std::set<std::string> kernels;
};

DISTRIBUTE_INLINE PlanCache& plan_cache() {
  static auto* cache = new PlanCache;
  return *cache;
}

/// Key of a call: the operation, its shape, the layouts of its inputs, the number of threads.
template <typename Shape>
std::string key_of(char operation, const Shape& shape, const Array& a, const Array& b, int flags) {
  struct Tail {
    const void *a, *b;
    int64_t flags, threads;
  } tail{a.layout.get(), b.layout.get(), flags, intra_op_threads()};
  std::string key(1 + sizeof(Shape) + sizeof(Tail), operation);
  std::memcpy(key.data() + 1, &shape, sizeof(Shape));
  std::memcpy(key.data() + 1 + sizeof(Shape), &tail, sizeof(Tail));
  return key;
}

template <typename Make>
PlanPtr find_or_make(const std::string& key, const Array& a, const Array& b, Make make) {
  PlanCache& cache = plan_cache();
  {
    std::shared_lock lock(cache.mutex);
    const auto found = cache.plans.find(key);
    if (found != cache.plans.end()) return found->second;
  }
  PlanPtr plan = make();
  std::unique_lock lock(cache.mutex);
  if (a.layout) cache.keep_alive.push_back(a.layout);
  if (b.layout) cache.keep_alive.push_back(b.layout);
  return cache.plans.emplace(key, std::move(plan)).first->second;
}

DISTRIBUTE_INLINE Memory::data_type data_type_of(DType dtype) {
  return dtype == DType::BFloat16 ? Memory::data_type::bf16 : Memory::data_type::f32;
}

/// Descriptor of an array: its own when it carries one, else the row-major one.
DISTRIBUTE_INLINE Desc desc_of(const Array& array, const Desc& plain) {
  const auto* layout = static_cast<const OneDnnLayout*>(array.layout.get());
  return layout ? layout->desc() : plain;
}

DISTRIBUTE_INLINE Desc any(const Desc& plain) {
  return Desc(blocking_of(plain).dims, data_type_of(plain), Tag::any);
}

/// Primitive descriptor with user-managed scratch memory; the two API generations differ here.
template <typename Primitive, typename... Args>
auto describe(const dnnl::primitive_attr& attr, const Args&... args) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(engine(), args..., attr);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(args...), attr, engine());
#endif
}

template <typename Primitive, typename Hint, typename... Args>
auto describe_backward(const Hint& hint, const Args&... args) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(engine(), args..., hint, attr);
#else
  return
      typename Primitive::primitive_desc(typename Primitive::desc(args...), attr, engine(), hint);
#endif
}

DISTRIBUTE_INLINE dnnl::primitive_attr attributes(Epilogue epilogue) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (epilogue == Epilogue::Relu) {
    dnnl::post_ops ops;
#if DNNL_VERSION_MAJOR >= 3
    ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
#else
    ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
#endif
    attr.set_post_ops(ops);
  }
  return attr;
}

DISTRIBUTE_INLINE Slot slot(const Array& array, const Desc& plain, const Desc& wanted) {
  const Desc given = desc_of(array, plain);
  return {given, wanted, same_placement(given, wanted)};
}

/// Fills what every plan has: the primitive, its scratch memory, its result's arrangement.
template <typename Primitive, typename PrimitiveDesc>
void finish_plan(Plan& plan, const PrimitiveDesc& pd, const char* name, const Desc& output,
                 const Desc& final_output, const Desc& plain) {
  plan.primitive = Primitive(pd);
  plan.scratch = pd.scratchpad_desc();
  plan.output = output;
  plan.final_output = final_output;
  if (!same_placement(final_output, plain))
    plan.layout = std::make_shared<OneDnnLayout>(final_output, plain);
  PlanCache& cache = plan_cache();
  std::unique_lock lock(cache.mutex);
  cache.kernels.insert(std::string(name) + " " + pd.impl_info_str());
}

/// The array in the arrangement that the slot wants.
DISTRIBUTE_INLINE Array fit(const Slot& slot, const Array& array) {
  if (slot.ready) return array;
  Array result = make_array(int64_t(slot.wanted.get_size()), array.buffer->device());
  reorder(slot.given, array.bytes(), slot.wanted, result.bytes());
  return result;
}

/// Runs a plan; `bias` is an input of forward operations and an output of weight gradients.
DISTRIBUTE_INLINE Array execute(const Plan& plan, const Array& a, const Array& b,
                                const Array* bias) {
  const Array x = fit(plan.inputs[0], a), y = fit(plan.inputs[1], b);
  Array output = make_array(int64_t(plan.output.get_size()), Device{});
  Array scratch = make_array(int64_t(plan.scratch.get_size()), Device{});
  std::unordered_map<int, Memory> args{
      {plan.input_args[0], Memory(plan.inputs[0].wanted, engine(), x.bytes())},
      {plan.input_args[1], Memory(plan.inputs[1].wanted, engine(), y.bytes())},
      {plan.output_arg, Memory(plan.output, engine(), output.bytes())},
      {DNNL_ARG_SCRATCHPAD, Memory(plan.scratch, engine(), scratch.bytes())}};
  if (bias) args.emplace(plan.bias_arg, Memory(plan.bias, engine(), bias->bytes()));
  plan.primitive.execute(stream(), args);
  stream().wait();
  if (!same_placement(plan.output, plan.final_output)) {
    Array moved = make_array(int64_t(plan.final_output.get_size()), Device{});
    reorder(plan.output, output.bytes(), plan.final_output, moved.bytes());
    output = std::move(moved);
  }
  output.layout = plan.layout;
  return output;
}

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

/// A bfloat16 convolution with 1x1 kernels over row-major images is a product of matrices, and
/// oneDNN's product is 2 to 10 times as fast backwards (AMX, oneDNN 2.6).
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

/// dx [pixels, in_channels] = dy times the filters turned round.
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
  Array large = make_array(s.batch * s.in[0] * s.in[1] * ci * 2, Device{});
  std::memset(large.bytes(), 0, size_t(s.batch * s.in[0] * s.in[1] * ci * 2));
  spread_strided(s, dx, large);
  return large;
}

/// Whether the gradient of filters is a product as well, with the image's windows written out: it
/// wins for many channels and for the few of a photograph, as far as they fit in a cache or two.
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
  Array windows = make_array(s.batch * s.out[0] * s.out[1] * s.kernel[0] * int64_t(line), Device{});
  parallel_for(s.batch * s.out[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      char* to = windows.bytes() + size_t(row * s.out[1] * s.kernel[0]) * line;
      const int64_t image = row / s.out[0], top = row % s.out[0] * s.stride[0] - s.pad_before[0];
      for (int64_t ox = 0; ox < s.out[1]; ++ox)
        for (int64_t ky = 0; ky < s.kernel[0]; ++ky, to += line) {
          const bool inside = top + ky >= 0 && top + ky < s.in[0];
          const char* from =
              x.bytes() + size_t((image * s.in[0] + top + ky) * s.in[1]) * pixel * size_t(inside);
          copy_window_row(inside ? from : nullptr, s.in[1], ox * s.stride[1] - s.pad_before[1],
                          s.kernel[1], pixel, to);
        }
    }
  });
  return windows;
}

/// dw [window, out_channels] = the windows of x turned round times dy, in float32; 1x1 windows of
/// stride 1 are x itself.
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

/// The backend itself. Thread-safe.
class OneDnnBackend final : public Backend {
 public:
  std::string name() const override { return "onednn"; }
  bool supports(DType dtype) const override {
    return dtype == DType::Float32 || (dtype == DType::BFloat16 && simd_level() == 2);
  }
  Array conv2d(const Conv2DShape& s, const Array& x, const Array& w, const Array* bias,
               Epilogue epilogue) override;
  Array conv2d_backprop_input(const Conv2DShape& s, const Array& dy, const Array& w) override;
  Array conv2d_backprop_filter(const Conv2DShape& s, const Array& x, const Array& dy,
                               Array* bias_gradient) override;
  Array matmul(const MatmulShape& s, const Array& a, const Array& b, const Array* bias,
               Epilogue epilogue) override;
};

DISTRIBUTE_INLINE Array OneDnnBackend::conv2d(const Conv2DShape& s, const Array& x, const Array& w,
                                              const Array* bias, Epilogue epilogue) {
  if (s.batch == 0) return eigen_backend().conv2d(s, x, w, bias, epilogue);
  if (winograd_suits(s))
    return winograd_conv2d(s, x, w, bias, epilogue,
                           image_layout({s.batch, s.out_channels, s.out[0], s.out[1]}));
  const auto make = [&] {
    auto plan = std::make_shared<Plan>();
    const ConvDescs descs(s);
    const auto pd = descs.forward(bias != nullptr, epilogue);
    plan->inputs[0] = slot(x, descs.x, pd.src_desc());
    plan->inputs[1] = slot(w, descs.master, pd.weights_desc());
    plan->input_args[0] = DNNL_ARG_SRC;
    plan->input_args[1] = DNNL_ARG_WEIGHTS;
    plan->output_arg = DNNL_ARG_DST;
    plan->bias_arg = DNNL_ARG_BIAS;
    plan->bias = descs.bias;
    finish_plan<convolution_forward>(*plan, pd, "convolution_forward", pd.dst_desc(), pd.dst_desc(),
                                     descs.y);
    return plan;
  };
  const int flags = (bias ? 1 : 0) + 2 * int(epilogue);
  return execute(*find_or_make(key_of('c', s, x, w, flags), x, w, make), x, w, bias);
}

DISTRIBUTE_INLINE Array OneDnnBackend::conv2d_backprop_input(const Conv2DShape& s, const Array& dy,
                                                             const Array& w) {
  if (s.batch == 0) return eigen_backend().conv2d_backprop_input(s, dy, w);
  if (is_product(s, dy, w)) return product_backprop_input(s, dy, w);
  if (winograd_suits(s))
    return winograd_conv2d_backprop_input(s, dy, w,
                                          image_layout({s.batch, s.in_channels, s.in[0], s.in[1]}));
  const auto make = [&] {
    auto plan = std::make_shared<Plan>();
    const ConvDescs descs(s);
    const auto pd = describe_backward<convolution_backward_data>(
        descs.forward(false, Epilogue::None), dnnl::algorithm::convolution_direct, any(descs.x),
        any(descs.w), any(descs.y), descs.stride, descs.dilation, descs.pad_before,
        descs.pad_after);
    plan->inputs[0] = slot(dy, descs.y, pd.diff_dst_desc());
    plan->inputs[1] = slot(w, descs.master, pd.weights_desc());
    plan->input_args[0] = DNNL_ARG_DIFF_DST;
    plan->input_args[1] = DNNL_ARG_WEIGHTS;
    plan->output_arg = DNNL_ARG_DIFF_SRC;
    finish_plan<convolution_backward_data>(*plan, pd, "convolution_backward_data",
                                           pd.diff_src_desc(), pd.diff_src_desc(), descs.x);
    return plan;
  };
  return execute(*find_or_make(key_of('d', s, dy, w, 0), dy, w, make), dy, w, nullptr);
}

DISTRIBUTE_INLINE Array OneDnnBackend::conv2d_backprop_filter(const Conv2DShape& s, const Array& x,
                                                              const Array& dy,
                                                              Array* bias_gradient) {
  if (s.batch == 0) return eigen_backend().conv2d_backprop_filter(s, x, dy, bias_gradient);
  if (!bias_gradient && (is_product(s, x, dy) || writes_windows_out(s, x, dy)))
    return product_backprop_filter(s, x, dy);
  if (winograd_suits(s)) return winograd_conv2d_backprop_filter(s, x, dy, bias_gradient);
  const auto make = [&] {
    auto plan = std::make_shared<Plan>();
    const ConvDescs descs(s);
    const auto forward = descs.forward(bias_gradient != nullptr, Epilogue::None);
    const auto pd = describe_backward<convolution_backward_weights>(
        forward, dnnl::algorithm::convolution_direct, any(descs.x), any(descs.master),
        bias_gradient ? descs.bias : Desc(), any(descs.y), descs.stride, descs.dilation,
        descs.pad_before, descs.pad_after);
    plan->inputs[0] = slot(x, descs.x, pd.src_desc());
    plan->inputs[1] = slot(dy, descs.y, pd.diff_dst_desc());
    plan->input_args[0] = DNNL_ARG_SRC;
    plan->input_args[1] = DNNL_ARG_DIFF_DST;
    plan->output_arg = DNNL_ARG_DIFF_WEIGHTS;
    plan->bias_arg = DNNL_ARG_DIFF_BIAS;
    plan->bias = descs.bias;
    // Gradients leave in the forward kernel's arrangement: the variable lives in the same one. The
    // filters of a bfloat16 kernel are converted anyway.
    const bool same_type = s.dtype == DType::Float32;
    finish_plan<convolution_backward_weights>(
        *plan, pd, "convolution_backward_weights", pd.diff_weights_desc(),
        same_type ? forward.weights_desc() : pd.diff_weights_desc(), descs.master);
    return plan;
  };
  if (bias_gradient)
    *bias_gradient = make_array(s.out_channels * size_of(DType::Float32), Device{});
  const std::string key = key_of('w', s, x, dy, bias_gradient ? 1 : 0);
  return execute(*find_or_make(key, x, dy, make), x, dy, bias_gradient);
}

DISTRIBUTE_INLINE Array OneDnnBackend::matmul(const MatmulShape& s, const Array& a, const Array& b,
                                              const Array* bias, Epilogue epilogue) {
  const bool empty = s.batch * s.rows * s.columns * s.inner == 0;
  if (s.dtype != DType::Float32 || empty) return eigen_backend().matmul(s, a, b, bias, epilogue);
  const auto make = [&] {
    auto plan = std::make_shared<Plan>();
    const auto type = data_type_of(s.dtype);
    const Dims plain_a{s.rows * s.inner, s.inner, 1}, turned_a{s.rows * s.inner, 1, s.rows};
    const Dims plain_b{s.inner * s.columns, s.columns, 1},
        turned_b{s.inner * s.columns, 1, s.inner};
    const Desc left({s.batch, s.rows, s.inner}, type, s.transpose_a ? turned_a : plain_a);
    const Desc right({s.batch, s.inner, s.columns}, type, s.transpose_b ? turned_b : plain_b);
    const Desc result({s.batch, s.rows, s.columns}, type, Tag::abc);
    plan->bias_arg = DNNL_ARG_BIAS;
    plan->bias = Desc({1, 1, s.columns}, type, Tag::abc);
    const auto attr = attributes(epilogue);
    const auto pd = bias ? describe<dnnl::matmul>(attr, left, right, plan->bias, result)
                         : describe<dnnl::matmul>(attr, left, right, result);
    plan->inputs[0] = {left, left, true};
    plan->inputs[1] = {right, right, true};
    plan->input_args[0] = DNNL_ARG_SRC;
    plan->input_args[1] = DNNL_ARG_WEIGHTS;
    plan->output_arg = DNNL_ARG_DST;
    finish_plan<dnnl::matmul>(*plan, pd, "matmul", result, result, result);
    return plan;
  };
  const int flags = (bias ? 1 : 0) + 2 * int(epilogue);
  return execute(*find_or_make(key_of('m', s, a, b, flags), a, b, make), a, b, bias);
}

}  // namespace onednn_internal

DISTRIBUTE_INLINE Backend* onednn_backend() {
  static onednn_internal::OneDnnBackend instance;
  return &instance;
}

DISTRIBUTE_INLINE std::vector<std::string> onednn_kernels_in_use() {
  auto& cache = onednn_internal::plan_cache();
  std::shared_lock lock(cache.mutex);
  return {cache.kernels.begin(), cache.kernels.end()};
}

}  // namespace distribute
