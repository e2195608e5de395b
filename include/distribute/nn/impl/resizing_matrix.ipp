#pragma once
#include <distribute/nn/detail/resizing_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace distribute::nn::nn_internal {

/// The weight of a pixel at this distance, 0 from the radius on.
struct ResizingFilter {
  float radius;
  float (*weight)(float distance);
};

template <int Radius>
float lanczos_weight(float x) {
  constexpr float kPi = 3.14159265359f;
  if (x > Radius) return 0;
  if (x <= 1e-3f) return 1;
  return Radius * std::sin(kPi * x) * std::sin(kPi * x / Radius) / (kPi * kPi * x * x);
}
DISTRIBUTE_INLINE float triangle_weight(float x) { return x < 1 ? 1 - x : 0; }
DISTRIBUTE_INLINE float cubic_weight(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? ((-0.5f * x + 2.5f) * x - 4) * x + 2 : ((1.5f * x - 2.5f) * x) * x + 1;
}

DISTRIBUTE_INLINE ResizingFilter filter_of(Interpolation method) {
  if (method == Interpolation::Bicubic) return {2, cubic_weight};
  if (method == Interpolation::Lanczos3) return {3, lanczos_weight<3>};
  if (method == Interpolation::Lanczos5) return {5, lanczos_weight<5>};
  return {1, triangle_weight};
}

/// Makes the sum of weights 1.
DISTRIBUTE_INLINE void normalize_row(float* row, int64_t had) {
  float sum = 0;
  for (int64_t i = 0; i < had; ++i) sum += row[i];
  if (std::abs(sum) < 1000 * std::numeric_limits<float>::min()) return;
  for (int64_t i = 0; i < had; ++i) row[i] /= sum;
}

/// Source  tensorflow/core/kernels/image/scale_and_translate_op.cc
DISTRIBUTE_INLINE void filtered_row(float* row, int64_t had, float middle, float scale,
                                    const ResizingFilter& filter) {
  const float reach = filter.radius * scale;
  const auto bound = [&](float at) { return std::clamp<int64_t>(int64_t(at), 0, had - 1); };
  const int64_t first = bound(std::ceil(middle - reach - 0.5f)),
                last = bound(std::floor(middle + reach - 0.5f));
  for (int64_t i = first; i <= last; ++i)
    row[i] = filter.weight(std::abs((float(i) + 0.5f - middle) * (1 / scale)));
  normalize_row(row, had);
}

/// TensorFlow rounds the distances of the cubic filter to 1/1024.
/// Source  tensorflow/core/kernels/image/resize_bicubic_op.cc
DISTRIBUTE_INLINE void cubic_row(float* row, int64_t had, float middle) {
  constexpr float kSteps = 1024;
  const float at = middle - 0.5f, below = std::floor(at);
  const float rest = std::nearbyint((at - below) * kSteps) / kSteps;
  const float distances[] = {1 + rest, rest, 1 - rest, 2 - rest};
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t pixel = int64_t(below) - 1 + i;
    if (pixel >= 0 && pixel < had) row[pixel] = cubic_weight(distances[i]);
  }
  normalize_row(row, had);
}

DISTRIBUTE_INLINE void linear_row(float* row, int64_t had, float middle) {
  const float at = std::clamp(middle - 0.5f, 0.0f, float(had - 1));
  const int64_t below = std::min(int64_t(at), had - 1), above = std::min(below + 1, had - 1);
  row[below] += 1 - (at - float(below));
  row[above] += at - float(below);
}

DISTRIBUTE_INLINE Tensor resizing_matrix(int64_t wanted, int64_t had, Interpolation method,
                                         bool antialias) {
  std::vector<float> weights(size_t(wanted * had));
  const float scale = float(had) / float(wanted);
  const bool spreads = method == Interpolation::Lanczos3 || method == Interpolation::Lanczos5;
  for (int64_t i = 0; i < wanted; ++i) {
    float* const row = weights.data() + i * had;
    const float middle = (float(i) + 0.5f) * scale;
    if (method == Interpolation::Nearest)
      row[std::min(int64_t(middle), had - 1)] = 1;
    else if (antialias || spreads)
      filtered_row(row, had, middle, antialias ? std::max(scale, 1.0f) : 1.0f, filter_of(method));
    else if (method == Interpolation::Bicubic)
      cubic_row(row, had, middle);
    else
      linear_row(row, had, middle);
  }
  return Tensor(Shape{wanted, had}, weights);
}

}  // namespace distribute::nn::nn_internal
