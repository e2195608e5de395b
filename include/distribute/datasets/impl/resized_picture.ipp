#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/image.hpp>
#include <distribute/datasets/detail/resized_picture.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace distribute::data::data_internal {

/// The neighbouring pixels whose weighted sum is one pixel of the result.
struct PixelSpan {
  int64_t first = 0;
  std::vector<float> weights = {};
};

/// The weight of a pixel at a distance, which is 0 from the radius on.
struct PixelFilter {
  float radius;
  float (*weight)(float distance);
};

template <int kRadius>
float lanczos(float x) {
  constexpr float kPi = 3.14159265359f;
  if (x > kRadius) return 0;
  if (x <= 1e-3f) return 1;
  return kRadius * std::sin(kPi * x) * std::sin(kPi * x / kRadius) / (kPi * kPi * x * x);
}
DISTRIBUTE_INLINE float gaussian(float x) { return x < 1.5f ? std::exp(-x * x / 0.5f) : 0; }
DISTRIBUTE_INLINE float mitchell_cubic(float x) {
  if (x >= 2) return 0;
  if (x >= 1) return ((-7.0f / 18 * x + 2) * x - 10.0f / 3) * x + 16.0f / 9;
  return (7.0f / 6 * x - 2) * x * x + 8.0f / 9;
}
DISTRIBUTE_INLINE float keys_cubic(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? ((-0.5f * x + 2.5f) * x - 4) * x + 2 : (1.5f * x - 2.5f) * x * x + 1;
}

DISTRIBUTE_INLINE PixelFilter filter_of(const std::string& method) {
  if (method == "lanczos3") return {3, lanczos<3>};
  if (method == "lanczos5") return {5, lanczos<5>};
  if (method == "gaussian") return {1.5f, gaussian};
  return {2, mitchell_cubic};
}

/// Makes the sum of the weights 1.
DISTRIBUTE_INLINE void normalize(PixelSpan& span) {
  float sum = 0;
  for (const float weight : span.weights) sum += weight;
  if (std::abs(sum) < 1000 * std::numeric_limits<float>::min()) return;
  for (float& weight : span.weights) weight /= sum;
}

/// Source  tensorflow/core/kernels/image/scale_and_translate_op.cc
DISTRIBUTE_INLINE PixelSpan filtered_span(int64_t i, int64_t from, int64_t to,
                                          const PixelFilter& filter) {
  const float middle = (float(i) + 0.5f) * (1 / (float(to) / float(from)));
  if (middle < 0 || middle > float(from)) return {0, {0}};
  const auto bound = [&](float at) { return std::clamp<int64_t>(int64_t(at), 0, from - 1); };
  PixelSpan span{bound(std::ceil(middle - filter.radius - 0.5f)), {}};
  const int64_t last = bound(std::floor(middle + filter.radius - 0.5f));
  for (int64_t k = span.first; k <= last; ++k)
    span.weights.push_back(filter.weight(std::abs(float(k) + 0.5f - middle)));
  normalize(span);
  return span;
}

/// TensorFlow rounds the distances of the cubic filter to 1/1024.
/// Source  tensorflow/core/kernels/image/resize_bicubic_op.cc
DISTRIBUTE_INLINE PixelSpan cubic_span(int64_t i, int64_t from, int64_t to) {
  const float at = (float(i) + 0.5f) * (float(from) / float(to)) - 0.5f, below = std::floor(at);
  const float rest = std::nearbyint((at - below) * 1024) / 1024;
  const float distances[] = {1 + rest, rest, 1 - rest, 2 - rest};
  const int64_t first = int64_t(below) - 1;
  PixelSpan span{std::max<int64_t>(first, 0), {}};
  for (int64_t k = 0; k < 4; ++k)
    if (first + k >= 0 && first + k < from) span.weights.push_back(keys_cubic(distances[k]));
  normalize(span);
  return span;
}

/// The mean of the part of the picture that becomes the pixel.
/// Source  tensorflow/core/kernels/image/resize_area_op.cc
DISTRIBUTE_INLINE PixelSpan area_span(int64_t i, int64_t from, int64_t to) {
  const float scale = float(from) / float(to);
  const float begin = float(i) * scale, end = float(i + 1) * scale;
  PixelSpan span{std::clamp<int64_t>(int64_t(std::floor(begin)), 0, from - 1), {}};
  for (int64_t k = int64_t(std::floor(begin)); k < int64_t(std::ceil(end)); ++k) {
    const float part = std::min(float(k + 1), end) - std::max(float(k), begin);
    if (k < from)
      span.weights.push_back(part / scale);
    else
      span.weights.back() += part / scale;  // a rounded end beyond the picture
  }
  return span;
}

DISTRIBUTE_INLINE std::vector<PixelSpan> pixel_spans(int64_t from, int64_t to,
                                                     const std::string& method) {
  std::vector<PixelSpan> spans;
  for (int64_t i = 0; i < to; ++i)
    spans.push_back(method == "bicubic" ? cubic_span(i, from, to)
                    : method == "area"  ? area_span(i, from, to)
                                        : filtered_span(i, from, to, filter_of(method)));
  return spans;
}

DISTRIBUTE_INLINE Tensor weighted_pixels(const Tensor& image, const ImageSize& size,
                                         const std::string& method) {
  const int64_t height = image.shape()[0], width = image.shape()[1], channels = image.shape()[2];
  const int64_t row = width * channels;
  const uint8_t* const in = image.data<uint8_t>().data();
  const auto columns = pixel_spans(width, size.width, method);
  std::vector<float> result, sums;
  result.reserve(size_t(size.height * size.width * channels));
  for (const PixelSpan& lines : pixel_spans(height, size.height, method)) {
    sums.assign(size_t(row), 0);
    for (size_t k = 0; k < lines.weights.size(); ++k)
      for (int64_t i = 0; i < row; ++i)
        sums[size_t(i)] += lines.weights[k] * float(in[(lines.first + int64_t(k)) * row + i]);
    for (const PixelSpan& span : columns)
      for (int64_t c = 0; c < channels; ++c) {
        float sum = 0;
        for (size_t k = 0; k < span.weights.size(); ++k)
          sum += span.weights[k] * sums[size_t((span.first + int64_t(k)) * channels + c)];
        result.push_back(sum);
      }
  }
  return Tensor(Shape{size.height, size.width, channels}, result);
}

DISTRIBUTE_INLINE Tensor nearest_pixels(const Tensor& image, const ImageSize& size) {
  const int64_t height = image.shape()[0], width = image.shape()[1], channels = image.shape()[2];
  const auto nearest = [](int64_t i, int64_t from, int64_t to) {
    return std::min(int64_t((float(i) + 0.5f) * (float(from) / float(to))), from - 1);
  };
  const uint8_t* const in = image.data<uint8_t>().data();
  std::vector<uint8_t> result(size_t(size.height * size.width * channels));
  uint8_t* out = result.data();
  for (int64_t y = 0; y < size.height; ++y)
    for (int64_t x = 0; x < size.width; ++x, out += channels)
      std::memcpy(
          out,
          in + (nearest(y, height, size.height) * width + nearest(x, width, size.width)) * channels,
          size_t(channels));
  return Tensor(Shape{size.height, size.width, channels}, result);
}

DISTRIBUTE_INLINE Tensor resized_picture(const Tensor& image, const ImageSize& size,
                                         const std::string& method) {
  if (method == "nearest") return nearest_pixels(image, size);
  if (method == "bilinear") return image::resize(image, size);
  return weighted_pixels(image, size, method);
}

DISTRIBUTE_INLINE Tensor cropped_and_resized(const Tensor& image, const ImageSize& size,
                                             const std::string& method) {
  const int64_t height = image.shape()[0], width = image.shape()[1];
  const auto part = [](int64_t side, int64_t other, int64_t wanted, int64_t other_wanted) {
    const auto most = int64_t(float(other * wanted) / float(other_wanted));
    return std::max<int64_t>(std::min(side, most), 1);
  };
  const ImageSize kept{part(height, width, size.height, size.width),
                       part(width, height, size.width, size.height)};
  return resized_picture(image::crop_to_bounding_box(image, {.y = (height - kept.height) / 2,
                                                             .x = (width - kept.width) / 2,
                                                             .height = kept.height,
                                                             .width = kept.width}),
                         size, method);
}

DISTRIBUTE_INLINE Tensor resized_and_padded(const Tensor& image, const ImageSize& size,
                                            const std::string& method) {
  const auto height = float(image.shape()[0]), width = float(image.shape()[1]);
  const float ratio = std::max(width / float(size.width), height / float(size.height));
  const float new_height = height / ratio, new_width = width / ratio;
  const ImageSize inner{int64_t(std::floor(new_height)), int64_t(std::floor(new_width))};
  if (inner.height < 1 || inner.width < 1)
    throw InvalidArgumentError(str_cat("a picture of ", image.shape()[0], " x ", image.shape()[1],
                                       " pixels has no pixel left within ", size.height, " x ",
                                       size.width, "; it is too long for pad_to_aspect_ratio"));
  const auto before = [](int64_t whole, float part) {
    return std::max<int64_t>(int64_t(std::floor((float(whole) - part) / 2)), 0);
  };
  return image::pad_to_bounding_box(
      resized_picture(image, inner, method),
      {before(size.height, new_height), before(size.width, new_width), size.height, size.width});
}

}  // namespace distribute::data::data_internal
