#pragma once
#if DISTRIBUTE_HAS_CUDNN
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_dnn_norm_passes.hpp>
#include <distribute/device/detail/cuda_dnn_patterns.hpp>
#include <distribute/device/detail/cuda_dnn_plans.hpp>
#include <distribute/device/detail/cuda_memory.hpp>

#include <bit>
#include <vector>

namespace distribute {

namespace cudnn_internal {

// The body is in cuda_dnn_operations.ipp.
std::string key_of(char operation, const Conv2DShape& s, int64_t flags);
std::string key_of(char operation, const NormShape& s);
NormShape pattern_of(const CudnnNormShape& s);
NormShape backward_pattern_of(const CudnnNormShape& s, Device device, bool summed);
Array image_array(DType dtype, int64_t count, Device device);

/// The gradient writes g only for a residual; without ReLU g is dy.
DISTRIBUTE_INLINE NormShape gradient_pattern_of(const CudnnNormShape& s) {
  NormShape pattern = pattern_of(s);
  pattern.keeps_gated = s.relu && s.residual;
  return pattern;
}

using Pointers = std::vector<void*>;

/// Two vectors of sums are stored one after the other, and cuDNN needs them at multiples of 16
/// bytes.
DISTRIBUTE_INLINE void check_whole_vectors(int64_t channels) {
  if (channels % 4)
    throw UnimplementedError(
        str_cat("sums over channels: cuDNN takes multiples of 4 channels, not ", channels));
}

/// Gives `count` float32 zeros and room for `behind` more. cuDNN may add to sums instead of writing
/// them.
DISTRIBUTE_INLINE Array zero_sums(int64_t count, int64_t behind, Device device) {
  Array sums = image_array(DType::Float32, count + behind, device);
  fill_elements(sums.bytes(), device, sizeof(float), 0, count);
  return sums;
}

DISTRIBUTE_INLINE void run_pass(Device device, char name, const NormShape& pattern,
                                CudnnGraph (*graph)(const NormShape&), const Pointers& pointers) {
  run_cudnn(
      device, key_of(name, pattern), [&] { return graph(pattern); }, pointers, Choice::Favourite);
}

DISTRIBUTE_INLINE void require_pass(Device device, char name, const NormShape& pattern,
                                    CudnnGraph (*graph)(const NormShape&)) {
  require_cudnn_plan(device, key_of(name, pattern), [&] { return graph(pattern); });
}

}  // namespace cudnn_internal

DISTRIBUTE_INLINE Array make_channel_sums(int64_t channels, int64_t rows, Device device) {
  cudnn_internal::check_whole_vectors(channels);
  Array sums = cudnn_internal::zero_sums(2 * channels, 1, device);
  fill_elements(sums.data<float>() + 2 * channels, device, sizeof(float),
                std::bit_cast<uint32_t>(float(rows)), 1);
  return sums;
}

DISTRIBUTE_INLINE Array cudnn_conv2d_with_sums(const Conv2DShape& s, const Array& x, const Array& w,
                                               Array& sums) {
  using namespace cudnn_internal;
  const Device device = x.buffer->device();
  const int64_t rows = s.batch * s.out[0] * s.out[1];
  const auto graph = [&] { return convolution_statistics(s); };
  const std::string key = key_of('s', s, 0);
  require_cudnn_plan(device, key, graph);
  Array y = image_array(s.dtype, rows * s.out_channels, device);
  sums = make_channel_sums(s.out_channels, rows, device);
  float* const first = sums.data<float>();
  run_cudnn(device, key, graph,
            Pointers{x.bytes(), w.bytes(), y.bytes(), first, first + s.out_channels},
            Choice::Favourite);
  return y;
}

DISTRIBUTE_INLINE void require_cudnn_norm_passes(const CudnnNormShape& s, Device device,
                                                 CudnnNormWayBack back) {
  using namespace cudnn_internal;
  require_pass(device, 'y', pattern_of(s), channels_scaled);
  if (back == CudnnNormWayBack::Whole)
    return require_pass(device, 'N', backward_pattern_of(s, device, false), batch_norm_backward);
  check_whole_vectors(s.channels);
  require_pass(device, 'u', pattern_of(s), channel_sums);
  require_pass(device, 'U', pattern_of(s), channel_gradient_sums);
  require_pass(device, 'Y', gradient_pattern_of(s), channels_gradient);
}

DISTRIBUTE_INLINE Array cudnn_channel_sums(const CudnnNormShape& s, const Array& x) {
  const int64_t rows = s.batch * s.height * s.width;
  Array sums = make_channel_sums(s.channels, rows, x.buffer->device());
  float* const first = sums.data<float>();
  cudnn_internal::run_pass(x.buffer->device(), 'u', cudnn_internal::pattern_of(s),
                           cudnn_internal::channel_sums, {x.bytes(), first, first + s.channels});
  return sums;
}

DISTRIBUTE_INLINE CudnnNormForward cudnn_scale_channels(const CudnnNormShape& s, const Array& x,
                                                        const Array& factor, const Array& shift,
                                                        const Array* residual) {
  using namespace cudnn_internal;
  const Device device = x.buffer->device();
  const int64_t count = s.batch * s.height * s.width * s.channels;
  CudnnNormForward result{image_array(s.dtype, count, device), {}, {}, {}};
  Pointers pointers{x.bytes(), result.y.bytes(), factor.bytes(), shift.bytes()};
  float zero = 0;
  if (s.relu) {
    result.mask = make_array((count + 7) / 8, device);
    pointers.insert(pointers.end(), {result.mask.bytes(), &zero});
  }
  if (s.residual) pointers.push_back(residual->bytes());
  run_pass(device, 'y', pattern_of(s), channels_scaled, pointers);
  return result;
}

DISTRIBUTE_INLINE Array cudnn_channel_gradient_sums(const CudnnNormShape& s, const Array& x,
                                                    const Array& dy, const Array& mean,
                                                    const Array& mask) {
  using namespace cudnn_internal;
  const Device device = x.buffer->device();
  Array sums = zero_sums(2 * s.channels, 0, device);
  float* const first = sums.data<float>();
  Pointers pointers{x.bytes(), dy.bytes(), mean.bytes(), first, first + s.channels};
  if (s.relu) pointers.push_back(mask.bytes());
  run_pass(device, 'U', pattern_of(s), channel_gradient_sums, pointers);
  return sums;
}

DISTRIBUTE_INLINE CudnnNormBackward cudnn_channels_gradient(const CudnnNormShape& s, const Array& x,
                                                            const Array& dy,
                                                            const CudnnGradientLines& lines,
                                                            const Array& mask) {
  using namespace cudnn_internal;
  const Device device = x.buffer->device();
  const NormShape pattern = gradient_pattern_of(s);
  const int64_t count = s.batch * s.height * s.width * s.channels;
  CudnnNormBackward result{image_array(s.dtype, count, device), {}, {}, {}};
  Pointers pointers{x.bytes(),           dy.bytes(),
                    result.dx.bytes(),   lines.factor.bytes(),
                    lines.slope.bytes(), lines.constant.bytes()};
  if (s.relu) pointers.push_back(mask.bytes());
  if (pattern.keeps_gated) {
    result.gated_dy = image_array(s.dtype, count, device);
    pointers.push_back(result.gated_dy.bytes());
  }
  run_pass(device, 'Y', pattern, channels_gradient, pointers);
  return result;
}

}  // namespace distribute
#endif
