#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/data/image.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace distribute::image {

namespace image_internal {

DISTRIBUTE_INLINE int64_t check_float_image(const char* op, const Tensor& image, int64_t channels) {
  const Shape& shape = image.shape();
  const bool fits = shape.rank() == 3 && (channels == 0 || shape[2] == channels);
  if (!fits || image.dtype() != DType::Float32)
    throw InvalidArgumentError(str_cat(op, ": expected float32 [height, width, ",
                                       channels ? str_cat(channels) : "channels", "], got ",
                                       name_of(image.dtype()), " ", to_string(shape)));
  return shape.num_elements();
}

/// Calls function(r, g, b) on copies of the pixels' colours.
template <typename Function>
Tensor map_colors(const char* op, const Tensor& image, Function function) {
  const int64_t count = check_float_image(op, image, 3);
  Tensor result = Tensor::empty(image.shape(), DType::Float32, Device{});
  const float* in = image.data<float>().data();
  float* out = result.mutable_data<float>();
  for (int64_t i = 0; i < count; i += 3) {
    std::copy_n(in + i, 3, out + i);
    function(out[i], out[i + 1], out[i + 2]);
  }
  return result;
}

/// Computes the mean of each channel.
DISTRIBUTE_INLINE std::vector<double> channel_means(const Tensor& image) {
  const auto values = image.data<float>();
  const size_t channels = size_t(image.shape()[2]);
  std::vector<double> sums(channels, 0.0);
  for (size_t i = 0; i < values.size(); ++i) sums[i % channels] += double(values[i]);
  for (double& sum : sums) sum /= std::max(1.0, double(values.size() / channels));
  return sums;
}

/// Turns the hue. Colours lie on a hexagon; along each of its six edges one colour changes.
DISTRIBUTE_INLINE void turn_hue(float& r, float& g, float& b, float delta) {
  const float high = std::max({r, g, b}), low = std::min({r, g, b}), range = high - low;
  if (range <= 0) return;
  const float at = high == r   ? (g - b) / range
                   : high == g ? 2 + (b - r) / range
                               : 4 + (r - g) / range;
  float hue = at + 6 * delta;
  hue -= 6 * std::floor(hue / 6);
  // two edges at the top, a slope, two at the bottom, a slope
  const auto color = [&](float shift) {
    float distance = std::abs(hue - shift);
    distance = std::min(distance, 6 - distance);
    return low + range * std::clamp(2 - distance, 0.0f, 1.0f);
  };
  r = color(0);
  g = color(2);
  b = color(4);
}

/// Principal axes of ImageNet's colours, each times the root of its eigenvalue, for white = 1.
inline constexpr float kLighting[3][3] = {
    {-0.5675f * 0.2175f, 0.7192f * 0.0188f, 0.4009f * 0.0045f},
    {-0.5808f * 0.2175f, -0.0045f * 0.0188f, -0.8140f * 0.0045f},
    {-0.5836f * 0.2175f, -0.6948f * 0.0188f, 0.4203f * 0.0045f}};

DISTRIBUTE_INLINE Tensor random_lighting(const Tensor& image, const ColorJitter& jitter,
                                         data::Random& random) {
  const float lighting = float(jitter.lighting), range = float(jitter.range);
  const float along[3] = {random.normal() * lighting, random.normal() * lighting,
                          random.normal() * lighting};
  float add[3] = {};
  for (int c = 0; c < 3; ++c)
    for (int axis = 0; axis < 3; ++axis) add[c] += kLighting[c][axis] * along[axis] * range;
  return map_colors("random_color_jitter", image, [&](float& r, float& g, float& b) {
    r += add[0];
    g += add[1];
    b += add[2];
  });
}

}  // namespace image_internal

DISTRIBUTE_INLINE Tensor adjust_brightness(const Tensor& image, float delta) {
  const int64_t count = image_internal::check_float_image("adjust_brightness", image, 0);
  Tensor result = Tensor::empty(image.shape(), DType::Float32, Device{});
  const float* in = image.data<float>().data();
  float* out = result.mutable_data<float>();
  for (int64_t i = 0; i < count; ++i) out[i] = in[i] + delta;
  return result;
}

DISTRIBUTE_INLINE Tensor adjust_contrast(const Tensor& image, float factor) {
  const int64_t count = image_internal::check_float_image("adjust_contrast", image, 0);
  const std::vector<double> means = image_internal::channel_means(image);
  Tensor result = Tensor::empty(image.shape(), DType::Float32, Device{});
  const float* in = image.data<float>().data();
  float* out = result.mutable_data<float>();
  for (int64_t i = 0; i < count; ++i) {
    const float mean = float(means[size_t(i) % means.size()]);
    out[i] = (in[i] - mean) * factor + mean;
  }
  return result;
}

DISTRIBUTE_INLINE Tensor adjust_saturation(const Tensor& image, float factor) {
  const auto saturate = [=](float& r, float& g, float& b) {
    const float high = std::max({r, g, b}), low = std::min({r, g, b});
    if (high <= 0) r = g = b = high;  // such a colour has no saturation
    if (high <= 0 || high == low) return;
    const float saturation = (high - low) / high;
    const float wanted = std::clamp(saturation * factor, 0.0f, 1.0f);
    for (float* color : {&r, &g, &b}) *color = high - (high - *color) * (wanted / saturation);
  };
  return image_internal::map_colors("adjust_saturation", image, saturate);
}

DISTRIBUTE_INLINE Tensor adjust_hue(const Tensor& image, float delta) {
  return image_internal::map_colors("adjust_hue", image, [=](float& r, float& g, float& b) {
    image_internal::turn_hue(r, g, b, delta);
  });
}

DISTRIBUTE_INLINE Tensor random_color_jitter(Tensor image, const ColorJitter& jitter,
                                             data::Random& random) {
  const auto around = [&](float middle, double most) {
    return random.uniform(middle - float(most), middle + float(most));
  };
  if (jitter.brightness > 0)
    image = adjust_brightness(image, around(0, jitter.brightness) * float(jitter.range));
  if (jitter.contrast > 0) image = adjust_contrast(image, around(1, jitter.contrast));
  if (jitter.saturation > 0) image = adjust_saturation(image, around(1, jitter.saturation));
  if (jitter.hue > 0) image = adjust_hue(image, around(0, jitter.hue));
  if (jitter.lighting > 0) image = image_internal::random_lighting(image, jitter, random);
  return image;
}

DISTRIBUTE_INLINE Tensor normalize(Tensor image, const Normalization& normalization) {
  image_internal::check_float_image("normalize", image, 3);
  const int64_t count = image.shape()[1] * 3;
  std::vector<float> scales, offsets;  // for a whole row, so that vectors can be used
  for (int64_t i = 0; i < count; ++i) {
    scales.push_back(1 / normalization.stddev[size_t(i % 3)]);
    offsets.push_back(-normalization.mean[size_t(i % 3)] * scales.back());
  }
  const float *scale = scales.data(), *offset = offsets.data();
  float* row = image.mutable_data<float>();
  for (int64_t y = 0; y < image.shape()[0]; ++y, row += count) {
    simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) row[i] = row[i] * scale[i] + offset[i];
    });
  }
  return image;
}

DISTRIBUTE_INLINE Tensor per_image_standardization(const Tensor& image) {
  const int64_t count = image_internal::check_float_image("per_image_standardization", image, 0);
  const float* in = image.data<float>().data();
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) sum += double(in[i]);
  const double mean = sum / std::max<double>(double(count), 1);
  for (int64_t i = 0; i < count; ++i) squares += (double(in[i]) - mean) * (double(in[i]) - mean);
  const double size = std::max<double>(double(count), 1);
  const double stddev = std::max(std::sqrt(squares / size), 1 / std::sqrt(size));
  Tensor result = Tensor::empty(image.shape(), DType::Float32, Device{});
  float* out = result.mutable_data<float>();
  for (int64_t i = 0; i < count; ++i) out[i] = float((double(in[i]) - mean) / stddev);
  return result;
}

}  // namespace distribute::image
