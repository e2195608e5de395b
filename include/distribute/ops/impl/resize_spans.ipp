#pragma once
#include <distribute/ops/detail/resize_spans.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace distribute::ops_internal {

/// The weight of a pixel at this distance, 0 from the radius on.
struct PixelFilter {
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
DISTRIBUTE_INLINE float gaussian_weight(float x) { return x < 1.5f ? std::exp(-x * x / 0.5f) : 0; }
DISTRIBUTE_INLINE float cubic_weight(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? ((-0.5f * x + 2.5f) * x - 4) * x + 2 : ((1.5f * x - 2.5f) * x) * x + 1;
}
DISTRIBUTE_INLINE float mitchell_weight(float x) {
  if (x >= 2) return 0;
  if (x >= 1) return ((-7.0f / 18 * x + 2) * x - 10.0f / 3) * x + 16.0f / 9;
  return (7.0f / 6 * x - 2) * x * x + 8.0f / 9;
}

DISTRIBUTE_INLINE PixelFilter filter_of(ResizeKernel kernel) {
  switch (kernel) {
    case ResizeKernel::Bicubic: return {2, cubic_weight};
    case ResizeKernel::Lanczos3: return {3, lanczos_weight<3>};
    case ResizeKernel::Lanczos5: return {5, lanczos_weight<5>};
    case ResizeKernel::Gaussian: return {1.5f, gaussian_weight};
    case ResizeKernel::MitchellCubic: return {2, mitchell_weight};
    default: return {1, triangle_weight};
  }
}

/// Makes the sum of weights 1.
DISTRIBUTE_INLINE PixelSpan normalized(PixelSpan span) {
  float sum = 0;
  for (const float weight : span.weights) sum += weight;
  if (std::abs(sum) >= 1000 * std::numeric_limits<float>::min())
    for (float& weight : span.weights) weight /= sum;
  return span;
}

/// Source  tensorflow/core/kernels/image/scale_and_translate_op.cc
DISTRIBUTE_INLINE PixelSpan filtered_span(int64_t had, float middle, float scale,
                                          const PixelFilter& filter) {
  const float reach = filter.radius * scale;
  const auto bound = [&](float at) { return std::clamp<int64_t>(int64_t(at), 0, had - 1); };
  PixelSpan span{bound(std::ceil(middle - reach - 0.5f)), {}};
  const int64_t last = bound(std::floor(middle + reach - 0.5f));
  for (int64_t i = span.first; i <= last; ++i)
    span.weights.push_back(filter.weight(std::abs((float(i) + 0.5f - middle) * (1 / scale))));
  return normalized(std::move(span));
}

/// TensorFlow rounds the distances of the cubic filter to 1/1024.
/// Source  tensorflow/core/kernels/image/resize_bicubic_op.cc
DISTRIBUTE_INLINE PixelSpan cubic_span(int64_t had, float middle) {
  constexpr float kSteps = 1024;
  const float at = middle - 0.5f, below = std::floor(at);
  const float rest = std::nearbyint((at - below) * kSteps) / kSteps;
  const float distances[] = {1 + rest, rest, 1 - rest, 2 - rest};
  const int64_t first = int64_t(below) - 1;
  PixelSpan span{std::max<int64_t>(first, 0), {}};
  for (int64_t i = 0; i < 4; ++i)
    if (first + i >= 0 && first + i < had) span.weights.push_back(cubic_weight(distances[i]));
  return normalized(std::move(span));
}

DISTRIBUTE_INLINE PixelSpan linear_span(int64_t had, float middle) {
  const float at = std::clamp(middle - 0.5f, 0.0f, float(had - 1));
  const int64_t below = std::min(int64_t(at), had - 1);
  const float rest = at - float(below);
  return below + 1 < had ? PixelSpan{below, {1 - rest, rest}} : PixelSpan{below, {1}};
}

/// Source  tensorflow/core/kernels/image/resize_area_op.cc
DISTRIBUTE_INLINE PixelSpan area_span(int64_t i, int64_t had, float scale) {
  const float begin = float(i) * scale, end = float(i + 1) * scale;
  PixelSpan span{std::clamp<int64_t>(int64_t(std::floor(begin)), 0, had - 1), {}};
  for (int64_t k = int64_t(std::floor(begin)); k < int64_t(std::ceil(end)); ++k) {
    const float part = (std::min(float(k + 1), end) - std::max(float(k), begin)) / scale;
    if (k < had)
      span.weights.push_back(part);
    else
      span.weights.back() += part;  // a rounded end beyond the image
  }
  return span;
}

DISTRIBUTE_INLINE PixelSpan resize_span(int64_t i, int64_t had, float scale, ResizeKernel kernel,
                                        bool antialias) {
  const float middle = (float(i) + 0.5f) * scale;
  switch (kernel) {
    case ResizeKernel::Nearest: return {std::min(int64_t(middle), had - 1), {1}};
    case ResizeKernel::Area: return area_span(i, had, scale);
    case ResizeKernel::Bilinear:
      if (!antialias) return linear_span(had, middle);
      break;
    case ResizeKernel::Bicubic:
      if (!antialias) return cubic_span(had, middle);
      break;
    default: break;
  }
  return filtered_span(had, middle, antialias ? std::max(scale, 1.0f) : 1.0f, filter_of(kernel));
}

DISTRIBUTE_INLINE std::vector<PixelSpan> resize_spans(int64_t wanted, int64_t had,
                                                      ResizeKernel kernel, bool antialias) {
  const float scale = float(had) / float(wanted);
  std::vector<PixelSpan> spans;
  for (int64_t i = 0; i < wanted; ++i)
    spans.push_back(resize_span(i, had, scale, kernel, antialias));
  return spans;
}

}  // namespace distribute::ops_internal
