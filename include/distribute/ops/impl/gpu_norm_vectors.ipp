#pragma once
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/device/detail/kernel_text.hpp>
#include <distribute/ops/detail/gpu_norm_vectors.hpp>

namespace distribute::ops_internal {

DISTRIBUTE_KERNEL_TEXT(
    kNormVectorsArguments,
    struct NormVectorsArguments {
      const float* totals;
      const float* scale;
      const float* offset;
      float* mean;
      float* variance;
      float* deviation;
      float* factor;
      float* shift;
      int64_t channels;
      float epsilon;
    };
    struct NormVarianceArguments {
      const float* deviation;
      float* variance;
      int64_t channels;
      float epsilon;
    };
    struct NormGradientVectorsArguments {
      const float* totals;
      const float* own;
      const float* all;
      const float* mean;
      const float* deviation;
      const float* factor;
      float* dscale;
      float* doffset;
      float* slope;
      float* constant;
      int64_t channels;
    };)
inline constexpr char kNormVectorsText[] =
#include <distribute/device/kernels/norm_vectors.cu.inc>
    ;

DISTRIBUTE_INLINE float* floats_of(const Tensor& t) {
  return t ? t.array().data<float>() : nullptr;
}

DISTRIBUTE_INLINE NormVectors gpu_norm_vectors(const Tensor& totals, const Tensor& scale,
                                               const Tensor& offset, double epsilon) {
  const Device device = totals.device();
  const int64_t channels = totals.num_elements() / 2;
  const auto vector = [&] { return Tensor::empty({channels}, DType::Float32, device); };
  NormVectors v{vector(), vector(), vector(), vector(), vector()};
  const NormVectorsArguments p{
      floats_of(totals),   floats_of(scale),      floats_of(offset),
      floats_of(v.mean),   floats_of(v.variance), floats_of(v.inverse_deviation),
      floats_of(v.factor), floats_of(v.shift),    channels,
      float(epsilon)};
  launch_kernel(device, {kNormVectorsText, "norm_vectors", kNormVectorsArguments},
                launch_for(channels), p);
  return v;
}

DISTRIBUTE_INLINE Tensor gpu_norm_variance(const Tensor& inverse_deviation, double epsilon) {
  const Device device = inverse_deviation.device();
  const int64_t channels = inverse_deviation.num_elements();
  Tensor variance = Tensor::empty({channels}, DType::Float32, device);
  const NormVarianceArguments p{floats_of(inverse_deviation), floats_of(variance), channels,
                                float(epsilon)};
  launch_kernel(device, {kNormVectorsText, "norm_variance", kNormVectorsArguments},
                launch_for(channels), p);
  return variance;
}

DISTRIBUTE_INLINE NormGradientVectors gpu_norm_gradient_vectors(const Tensor& totals,
                                                                const NormVectors& vectors,
                                                                const Tensor& own,
                                                                const Tensor& all) {
  const Device device = totals.device();
  const int64_t channels = totals.num_elements() / 2;
  const auto vector = [&] { return Tensor::empty({channels}, DType::Float32, device); };
  NormGradientVectors v{vector(), vector(), vector(), vector()};
  const NormGradientVectorsArguments p{floats_of(totals),
                                       floats_of(own),
                                       floats_of(all),
                                       floats_of(vectors.mean),
                                       floats_of(vectors.inverse_deviation),
                                       floats_of(vectors.factor),
                                       floats_of(v.dscale),
                                       floats_of(v.doffset),
                                       floats_of(v.slope),
                                       floats_of(v.constant),
                                       channels};
  launch_kernel(device, {kNormVectorsText, "norm_gradient_vectors", kNormVectorsArguments},
                launch_for(channels), p);
  return v;
}

}  // namespace distribute::ops_internal
