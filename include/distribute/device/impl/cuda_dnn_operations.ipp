#pragma once
#if DISTRIBUTE_HAS_CUDNN
#include <distribute/device/detail/cuda_dnn_operations.hpp>
#include <distribute/device/detail/cuda_dnn_patterns.hpp>
#include <distribute/device/detail/cuda_dnn_plans.hpp>
#include <distribute/device/detail/cuda_state.hpp>

#include <cstring>
#include <initializer_list>
#include <vector>

namespace distribute {

namespace cudnn_internal {

const CudnnTable*& cudnn_slot();  // cuda_dnn_library.ipp

/// Bytes that name a call: the operation and all sizes.
DISTRIBUTE_INLINE std::string key_of(char operation, std::initializer_list<int64_t> numbers) {
  std::string key(1 + numbers.size() * sizeof(int64_t), operation);
  std::memcpy(key.data() + 1, numbers.begin(), numbers.size() * sizeof(int64_t));
  return key;
}

DISTRIBUTE_INLINE std::string key_of(char operation, const Conv2DShape& s, int64_t flags = 0) {
  return key_of(operation,
                {int64_t(s.dtype), s.batch,         s.in_channels,  s.out_channels, s.groups,
                 s.in[0],          s.in[1],         s.out[0],       s.out[1],       s.kernel[0],
                 s.kernel[1],      s.stride[0],     s.stride[1],    s.dilation[0],  s.dilation[1],
                 s.pad_before[0],  s.pad_before[1], s.pad_after[0], s.pad_after[1], flags});
}

DISTRIBUTE_INLINE NormShape pattern_of(const CudnnNormShape& s) {
  return {s.dtype, s.batch, s.channels, s.height, s.width, s.relu, s.residual};
}

DISTRIBUTE_INLINE std::string key_of(char operation, const NormShape& s) {
  return key_of(operation, {int64_t(s.dtype), s.batch, s.channels, s.height, s.width, s.relu,
                            s.residual, s.summed, s.keeps_gated});
}

DISTRIBUTE_INLINE bool has_norm_backward(Device device, const NormShape& pattern) {
  try {
    require_cudnn_plan(device, key_of('N', pattern), [&] { return batch_norm_backward(pattern); });
    return true;
  } catch (const UnimplementedError&) {
    return false;
  }
}

/// The pattern of the gradient. dy behind the gate is written only for a residual, unless cuDNN
/// requires it.
DISTRIBUTE_INLINE NormShape backward_pattern_of(const CudnnNormShape& s, Device device,
                                                bool summed) {
  NormShape pattern = pattern_of(s);
  pattern.summed = summed;
  pattern.keeps_gated = s.residual || !s.relu;
  if (!pattern.keeps_gated) pattern.keeps_gated = !has_norm_backward(device, pattern);
  return pattern;
}

DISTRIBUTE_INLINE Array image_array(DType dtype, int64_t count, Device device) {
  return make_array(count * size_of(dtype), device);
}

}  // namespace cudnn_internal

DISTRIBUTE_INLINE std::string cudnn_problem() {
  if (!cudnn_internal::cudnn_slot() && !device_internal::gpu_state().uses_libraries)
    return "cuDNN: not used with a test's tables";
  try {
    cudnn_internal::cudnn();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

DISTRIBUTE_INLINE Array cudnn_conv2d(const Conv2DShape& s, const Array& x, const Array& w,
                                     const Array* bias, Epilogue epilogue) {
  using namespace cudnn_internal;
  const Device device = x.buffer->device();
  Array y = image_array(s.dtype, s.batch * s.out[0] * s.out[1] * s.out_channels, device);
  std::vector<void*> pointers{x.bytes(), w.bytes(), y.bytes()};
  if (bias) pointers.push_back(bias->bytes());
  const bool with_bias = bias != nullptr;
  run_cudnn(
      device, key_of('c', s, 2 * int64_t(epilogue) + with_bias),
      [&] { return convolution_forward(s, with_bias, epilogue); }, pointers);
  return y;
}

DISTRIBUTE_INLINE Array cudnn_conv2d_backprop_input(const Conv2DShape& s, const Array& dy,
                                                    const Array& w) {
  using namespace cudnn_internal;
  const Device device = dy.buffer->device();
  Array dx = image_array(s.dtype, s.batch * s.in[0] * s.in[1] * s.in_channels, device);
  void* const pointers[] = {dx.bytes(), w.bytes(), dy.bytes()};
  run_cudnn(
      device, key_of('d', s), [&] { return convolution_data(s); }, pointers);
  return dx;
}

DISTRIBUTE_INLINE Array cudnn_conv2d_backprop_filter(const Conv2DShape& s, const Array& x,
                                                     const Array& dy) {
  using namespace cudnn_internal;
  const Device device = dy.buffer->device();
  const int64_t taps = s.kernel[0] * s.kernel[1] * (s.in_channels / s.groups);
  Array dw = image_array(s.dtype, taps * s.out_channels, device);
  void* const pointers[] = {x.bytes(), dw.bytes(), dy.bytes()};
  run_cudnn(
      device, key_of('w', s), [&] { return convolution_filter(s); }, pointers);
  return dw;
}

DISTRIBUTE_INLINE CudnnNormForward cudnn_batch_norm(const CudnnNormShape& s, const Array& x,
                                                    const Array& scale, const Array& bias,
                                                    float epsilon, const Array* residual) {
  using namespace cudnn_internal;
  const Device device = x.buffer->device();
  const int64_t count = s.batch * s.height * s.width * s.channels;
  const NormShape back = backward_pattern_of(s, device, false);
  require_cudnn_plan(device, key_of('N', back), [&] { return batch_norm_backward(back); });
  const auto vector = [&] { return image_array(DType::Float32, s.channels, device); };
  CudnnNormForward result{image_array(s.dtype, count, device), vector(), vector(), {}};
  float zero = 0;
  std::vector<void*> pointers{x.bytes(),
                              result.y.bytes(),
                              scale.bytes(),
                              bias.bytes(),
                              &epsilon,
                              result.mean.bytes(),
                              result.inverse_deviation.bytes()};
  if (s.relu) {
    result.mask = make_array((count + 7) / 8, device);
    pointers.insert(pointers.end(), {result.mask.bytes(), &zero});
  }
  if (s.residual) pointers.push_back(residual->bytes());
  run_cudnn(
      device, key_of('n', pattern_of(s)), [&] { return batch_norm_forward(pattern_of(s)); },
      pointers, Choice::Favourite);
  return result;
}

DISTRIBUTE_INLINE bool cudnn_batch_norm_adds(const CudnnNormShape& s, Device device) {
  using namespace cudnn_internal;
  return s.relu && has_norm_backward(device, backward_pattern_of(s, device, true));
}

DISTRIBUTE_INLINE CudnnNormBackward cudnn_batch_norm_backward(const CudnnNormShape& s,
                                                              const Array& x, const Array& dy,
                                                              const Array& scale,
                                                              const CudnnNormForward& forward,
                                                              const Array* more_dy) {
  using namespace cudnn_internal;
  const Device device = x.buffer->device();
  const NormShape pattern = backward_pattern_of(s, device, more_dy);
  const int64_t count = s.batch * s.height * s.width * s.channels;
  const auto vector = [&] { return image_array(DType::Float32, s.channels, device); };
  CudnnNormBackward result{image_array(s.dtype, count, device), vector(), vector(), {}};
  std::vector<void*> pointers{x.bytes(),
                              dy.bytes(),
                              result.dx.bytes(),
                              scale.bytes(),
                              forward.mean.bytes(),
                              forward.inverse_deviation.bytes(),
                              result.dscale.bytes(),
                              result.dbias.bytes()};
  if (more_dy) pointers.push_back(more_dy->bytes());
  if (s.relu) pointers.push_back(forward.mask.bytes());
  if (s.relu && pattern.keeps_gated) {
    result.gated_dy = image_array(s.dtype, count, device);
    pointers.push_back(result.gated_dy.bytes());
  }
  run_cudnn(
      device, key_of('N', pattern), [&] { return batch_norm_backward(pattern); }, pointers,
      Choice::Favourite);
  return result;
}

}  // namespace distribute
#endif
