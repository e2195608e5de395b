#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace distribute {

namespace ops_internal {

inline constexpr int64_t kNormPiece = 4096;  // elements summed in float before going double

/// The stored numbers of a float32 tensor. A block's padding is zero and has no effect;
/// IndexedSlices give their rows.
DISTRIBUTE_INLINE std::span<const float> stored_values(const Tensor& x) {
  const bool sparse = is_indexed_slices(x);
  const int64_t count = sparse       ? indexed_slices(x).values.num_elements()
                        : x.layout() ? x.layout()->bytes() / int64_t(sizeof(float))
                                     : x.num_elements();
  return {x.array().data<float>(), size_t(count)};
}

/// Computes the sum of a[i] * b[i]; its order depends on the count alone.
DISTRIBUTE_INLINE double sum_of_products(std::span<const float> a, std::span<const float> b) {
  const int64_t count = int64_t(a.size()), pieces = (count + kNormPiece - 1) / kNormPiece;
  std::vector<double> partial(static_cast<size_t>(pieces));
  double* sums = partial.data();
  const float *x = a.data(), *y = b.data();
  parallel_for(pieces, 16, [=](int64_t begin, int64_t end) {
    simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t last = std::min(count, (p + 1) * kNormPiece);
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = p * kNormPiece; i < last; ++i) sum += double(x[i]) * double(y[i]);
        sums[p] = sum;
      }
    });
  });
  double total = 0;
  for (double sum : partial) total += sum;
  return total;
}

/// The stored numbers as a row-major tensor; of IndexedSlices, the rows.
DISTRIBUTE_INLINE Tensor stored_tensor(const Tensor& x) {
  return is_indexed_slices(x) ? indexed_slices(x).values : x.row_major();
}

/// Computes the sum of a[i] * b[i] on a GPU, and leaves it there.
DISTRIBUTE_INLINE Tensor gpu_sum_of_products(const Tensor& a, const Tensor& b) {
  const Device device = device_of({a, b});
  const Tensor x = stored_tensor(a), y = stored_tensor(b);
  const Tensor product =
      gpu_broadcast(x, y, x.shape(), DType::Float32, binary_row<Multiply>(), device);
  const std::vector<bool> all(size_t(x.shape().rank()), true);
  return gpu_reduce(product, all, binary_row<SumOf>()).view({1});
}

/// Computes the sum of squares of all stored numbers: [1] on the GPU that has all tensors, else on
/// the host, which waits once for all GPUs.
DISTRIBUTE_INLINE Tensor gpu_sum_of_squares(const std::vector<Tensor>& tensors) {
  Tensor sum;
  for (const Tensor& t : tensors) {
    const Tensor part = gpu_sum_of_products(t, t);
    sum = sum ? gpu_broadcast(sum, part, {1}, DType::Float32, binary_row<Add>(), part.device())
              : part;
  }
  return sum;
}
DISTRIBUTE_INLINE double sum_of_squares(const std::vector<Tensor>& tensors) {
  double sum = 0;
  std::vector<Tensor> on_device;
  for (const Tensor& t : tensors) {
    if (on_gpu(t))
      on_device.push_back(t);
    else
      sum += sum_of_products(stored_values(t), stored_values(t));
  }
  return on_device.empty() ? sum : sum + double(gpu_sum_of_squares(on_device).item<float>());
}

/// Gives the norm of all tensors, a scalar. It stays on the GPU that has them all, so that nothing
/// waits for it, and a step that clips can be recorded.
DISTRIBUTE_INLINE Tensor norm_of(const std::vector<Tensor>& tensors) {
  const bool on_one_gpu = !tensors.empty() && on_gpu(tensors[0]) &&
                          std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& t) {
                            return t.device() == tensors[0].device();
                          });
  if (on_one_gpu) return sqrt(gpu_sum_of_squares(tensors).view({}));
  return Tensor(float(std::sqrt(sum_of_squares(tensors))));
}

/// Makes a tensor with x's shape, layout and rows, and undefined elements.
DISTRIBUTE_INLINE Tensor empty_as(const Tensor& x) {
  if (!is_indexed_slices(x)) return Tensor::empty(x.shape(), x.dtype(), x.device(), x.layout());
  const IndexedSlices slices = indexed_slices(x);
  const Shape& rows = slices.values.shape();
  return to_tensor(
      {Tensor::empty(rows, x.dtype(), x.device()), slices.indices, slices.dense_shape});
}

DISTRIBUTE_INLINE Tensor scaled_by(const Tensor& x, const Tensor& factor);

/// Gives the gradients of factor * x: the stored numbers of dy at the places that x stores.
DISTRIBUTE_INLINE std::vector<Tensor> scaled_gradients(const Backward& backward, const Tensor& x,
                                                       const Tensor& factor) {
  const Tensor& dy = backward.gradient();
  Tensor dx, dfactor;
  if (backward.needs(0)) dx = scaled_by(dy, factor);
  if (backward.needs(1)) {
    const Tensor plain = x.row_major(), gradient = dy.row_major();
    const double sum = on_gpu(plain) || on_gpu(gradient)
                           ? double(gpu_sum_of_products(plain, gradient).item<float>())
                           : sum_of_products(plain.data<float>(), gradient.data<float>());
    dfactor = record("scale gradient", {x, dy}, Tensor(float(sum)), no_gradient("clipping"));
  }
  return {dx, dfactor};
}

/// Computes x * factor (a float32 scalar), in x's layout; 16-bit floats are computed in float32.
DISTRIBUTE_INLINE Tensor scaled_by(const Tensor& x, const Tensor& factor) {
  if (x.dtype() != DType::Float32)
    return cast(scaled_by(cast(x, DType::Float32), factor), x.dtype());
  if (on_gpu(x)) {
    const Tensor stored = stored_tensor(x);
    const Tensor scaled = gpu_broadcast(stored, factor, stored.shape(), DType::Float32,
                                        binary_row<Multiply>(), x.device());
    const Tensor result = is_indexed_slices(x)
                              ? tensor_internal::rows_as_tensor({scaled, indexed_slices(x).indices,
                                                                 indexed_slices(x).dense_shape})
                              : scaled;
    return record("scale", {x, factor}, result,
                  [=](const Backward& backward) { return scaled_gradients(backward, x, factor); });
  }
  const Tensor y = empty_as(x);
  const float* from = x.array().data<float>();
  float *to = y.array().data<float>(), times = factor.item<float>();
  parallel_for(int64_t(stored_values(x).size()), 16384, [=](int64_t begin, int64_t end) {
    simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) to[i] = from[i] * times;
    });
  });
  return record("scale", {x, factor}, y,
                [=](const Backward& backward) { return scaled_gradients(backward, x, factor); });
}

/// Records a factor that depends on the scalar `x`, with its value and its derivative there.
DISTRIBUTE_INLINE Tensor clipped_scalar(const Tensor& x, float value, float slope) {
  return record("clip", {x}, Tensor(value), [=](const Backward& backward) {
    const Tensor dx(backward.gradient().item<float>() * slope);
    return std::vector<Tensor>{
        record("clip", {x, backward.gradient()}, dx, no_gradient("clipping"))};
  });
}

/// Gives clip_norm / max(norm, clip_norm) as a tensor; NaN for a norm that is not finite.
DISTRIBUTE_INLINE Tensor clip_factor(const Tensor& norm, float clip_norm) {
  if (on_gpu(norm))  // norm - norm is 0, or NaN
    return clip_norm / maximum(Tensor(clip_norm), norm) + (norm - norm);
  const float value = norm.item<float>();
  if (!std::isfinite(value))
    return clipped_scalar(norm, std::numeric_limits<float>::quiet_NaN(), 0);
  const bool clips = value > clip_norm;
  return clipped_scalar(norm, clips ? clip_norm / value : 1.0f,
                        clips ? -clip_norm / (value * value) : 0.0f);
}

DISTRIBUTE_INLINE void check_clip(const char* op, float clip_norm) {
  if (!(clip_norm > 0))
    throw InvalidArgumentError(str_cat(op, ": clip_norm must be positive, got ", clip_norm));
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor global_norm(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> inputs;
  for (const Tensor& t : tensors) {
    if (!t) continue;
    if (!is_floating(t.dtype()))
      throw InvalidArgumentError(str_cat("global_norm: not for dtype ", name_of(t.dtype())));
    inputs.push_back(cast(t, DType::Float32));
  }
  const Tensor norm = ops_internal::norm_of(inputs);
  record("global_norm", inputs, std::span(&norm, 1), [inputs, norm](const Backward& backward) {
    const Tensor factor = divide_no_nan(backward.gradient(), norm);
    std::vector<Tensor> gradients(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (backward.needs(i)) gradients[i] = ops_internal::scaled_by(inputs[i], factor);
    return gradients;
  });
  return norm;
}

DISTRIBUTE_INLINE Tensor clip_by_norm(const Tensor& x, float clip_norm) {
  ops_internal::check_clip("clip_by_norm", clip_norm);
  return ops_internal::scaled_by(x, ops_internal::clip_factor(global_norm({x}), clip_norm));
}

DISTRIBUTE_INLINE ClippedTensors clip_by_global_norm(const std::vector<Tensor>& tensors,
                                                     float clip_norm) {
  return clip_by_global_norm(tensors, clip_norm, global_norm(tensors));
}

DISTRIBUTE_INLINE ClippedTensors clip_by_global_norm(const std::vector<Tensor>& tensors,
                                                     float clip_norm, const Tensor& use_norm) {
  ops_internal::check_clip("clip_by_global_norm", clip_norm);
  const Tensor factor = ops_internal::clip_factor(use_norm, clip_norm);
  ClippedTensors result{{}, use_norm};
  for (const Tensor& t : tensors) result.list.push_back(t ? ops_internal::scaled_by(t, factor) : t);
  return result;
}

}  // namespace distribute
