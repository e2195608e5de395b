#pragma once
/// The few places where oneDNN 2.6 and 3.x differ, so that the kernel benchmark is written once.

#include <oneapi/dnnl/dnnl_version.h>
#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace distribute_tools::onednn {

#if DNNL_VERSION_MAJOR >= 3
using PoolingForward = dnnl::pooling_forward;
using PoolingBackward = dnnl::pooling_backward;
using SoftmaxForward = dnnl::softmax_forward;
#else
using PoolingForward = dnnl::pooling_v2_forward;
using PoolingBackward = dnnl::pooling_v2_backward;
using SoftmaxForward = dnnl::softmax_v2_forward;
#endif

/// Primitive descriptor of a forward primitive; `args` are those of the operation.
template <class Primitive, class... Args>
auto forward_descriptor(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                        Args&&... args) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(engine, std::forward<Args>(args)..., attributes);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(std::forward<Args>(args)...),
                                            attributes, engine);
#endif
}

/// Primitive descriptor of a backward primitive; `hint` is the forward one it belongs to.
template <class Primitive, class Hint, class... Args>
auto backward_descriptor(const dnnl::engine& engine, const Hint& hint, Args&&... args) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(engine, std::forward<Args>(args)..., hint);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(std::forward<Args>(args)...),
                                            engine, hint);
#endif
}

/// Backward of an in-place-shaped ReLU that looks at the OUTPUT of the forward pass.
inline dnnl::eltwise_backward::primitive_desc relu_backward_descriptor(
    const dnnl::engine& engine, const dnnl::memory::desc& data) {
  const auto kind = dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
  const auto training = dnnl::prop_kind::forward_training;
#if DNNL_VERSION_MAJOR >= 3
  const auto forward = forward_descriptor<dnnl::eltwise_forward>(
      engine, dnnl::primitive_attr(), training, kind, data, data, 0.0F, 0.0F);
  return {engine, kind, data, data, data, 0.0F, 0.0F, forward};
#else
  const auto forward = forward_descriptor<dnnl::eltwise_forward>(engine, dnnl::primitive_attr(),
                                                                 training, kind, data, 0.0F, 0.0F);
  return {dnnl::eltwise_backward::desc(kind, data, data, 0.0F, 0.0F), engine, forward};
#endif
}

/// Batch normalization of `data` in training, with scale and shift.
inline auto batch_norm_descriptor(const dnnl::engine& engine, const dnnl::memory::desc& data,
                                  dnnl::normalization_flags flags) {
  const auto training = dnnl::prop_kind::forward_training;
#if DNNL_VERSION_MAJOR >= 3
  return forward_descriptor<dnnl::batch_normalization_forward>(engine, dnnl::primitive_attr(),
                                                               training, data, data, 1e-5F, flags);
#else
  return forward_descriptor<dnnl::batch_normalization_forward>(engine, dnnl::primitive_attr(),
                                                               training, data, 1e-5F, flags);
#endif
}
template <class Hint>
auto batch_norm_backward_descriptor(const dnnl::engine& engine, const Hint& hint,
                                    const dnnl::memory::desc& data,
                                    dnnl::normalization_flags flags) {
#if DNNL_VERSION_MAJOR >= 3
  return backward_descriptor<dnnl::batch_normalization_backward>(
      engine, hint, dnnl::prop_kind::backward, data, data, data, 1e-5F, flags);
#else
  return backward_descriptor<dnnl::batch_normalization_backward>(
      engine, hint, dnnl::prop_kind::backward, data, data, 1e-5F, flags);
#endif
}

/// The flags for scale and shift, and where each is: one array of two rows in 2.x.
#if DNNL_VERSION_MAJOR >= 3
inline const auto kScaleShift =
    dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
inline const std::vector<int> kScaleShiftPlaces{DNNL_ARG_SCALE, DNNL_ARG_SHIFT};
inline const std::vector<int> kScaleShiftGradients{DNNL_ARG_DIFF_SCALE, DNNL_ARG_DIFF_SHIFT};
#else
inline const auto kScaleShift = dnnl::normalization_flags::use_scale_shift;
inline const std::vector<int> kScaleShiftPlaces{DNNL_ARG_SCALE_SHIFT};
inline const std::vector<int> kScaleShiftGradients{DNNL_ARG_DIFF_SCALE_SHIFT};
#endif

/// Post-operations that apply a ReLU to the result of a primitive.
inline dnnl::primitive_attr relu_attributes() {
  dnnl::post_ops chain;
#if DNNL_VERSION_MAJOR >= 3
  chain.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
#else
  chain.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
#endif
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(chain);
  return attributes;
}

/// What a memory descriptor looks like inside: strides, and the innermost blocks with their axes.
struct Blocking {
  dnnl::memory::dims dims, strides, inner_sizes, inner_axes;
};

inline Blocking blocking_of(const dnnl::memory::desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return {desc.get_dims(), desc.get_strides(), desc.get_inner_blks(), desc.get_inner_idxs()};
#else
  const auto& plan = desc.data.format_desc.blocking;
  const auto list = [](const dnnl_dim_t* first, int count) {
    return dnnl::memory::dims(first, first + count);
  };
  return {desc.dims(), list(plan.strides, desc.data.ndims), list(plan.inner_blks, plan.inner_nblks),
          list(plan.inner_idxs, plan.inner_nblks)};
#endif
}

inline dnnl::memory::data_type data_type_of(const dnnl::memory::desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return desc.get_data_type();
#else
  return desc.data_type();
#endif
}

/// oneDNN's name of a layout: `acdb` is NHWC, `aBcd16b` is nChw16c; capitals are blocked axes.
inline std::string layout_name(const dnnl::memory::desc& desc) {
  const Blocking plan = blocking_of(desc);
  std::vector<size_t> order(plan.dims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return plan.strides[a] > plan.strides[b]; });
  std::string name;
  for (const size_t axis : order) {
    const auto& blocked = plan.inner_axes;
    const bool split = std::count(blocked.begin(), blocked.end(), static_cast<int64_t>(axis)) > 0;
    name += static_cast<char>((split ? 'A' : 'a') + axis);
  }
  for (size_t i = 0; i < plan.inner_axes.size(); ++i)
    name += std::to_string(plan.inner_sizes[i]) + static_cast<char>('a' + plan.inner_axes[i]);
  return name;
}

}  // namespace distribute_tools::onednn
