#pragma once
/// What the tests of pictures share: synthetic pictures and their files.

#include <distribute/data/decode_image.hpp>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

namespace distribute::data {

/// Smooth colours that differ with `phase`, so that JPEG changes them little.
inline Tensor gradient_image(int64_t height, int64_t width, int64_t channels = 3,
                             double phase = 0) {
  std::vector<uint8_t> pixels;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < channels; ++c)
        pixels.push_back(
            uint8_t(128 + 100 * std::sin(phase + 3.0 * double(y) / double(height) +
                                         2.0 * double(x) / double(width) + double(c))));
  return Tensor(Shape{height, width, channels}, pixels);
}

/// Mean absolute difference of two images of one shape.
inline double mean_difference(const Tensor& a, const Tensor& b) {
  const auto x = a.to_vector(), y = b.to_vector();
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += std::abs(double(x[i]) - double(y[i]));
  return sum / double(x.size());
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace distribute::data
