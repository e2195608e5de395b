#pragma once
/// The distinct convolutions of ResNet-50 at 224 x 224: stem and 22 others.

#include <distribute/device/detail/kernel_shapes.hpp>

#include <vector>

namespace distribute::testing {

inline Conv2DShape square_convolution(DType dtype, int64_t batch, int64_t in, int64_t in_channels,
                                      int64_t out_channels, int64_t kernel, int64_t stride) {
  Conv2DShape s;
  s.dtype = dtype;
  s.batch = batch;
  s.in_channels = in_channels;
  s.out_channels = out_channels;
  s.in = {in, in};
  s.kernel = {kernel, kernel};
  s.stride = {stride, stride};
  s.pad_before = s.pad_after = {kernel / 2, kernel / 2};
  s.out = {in / stride, in / stride};
  return s;
}

/// `stem_channels` 3, or more when the image is padded with zeros.
inline std::vector<Conv2DShape> resnet50_convolutions(DType dtype, int64_t batch,
                                                      int64_t stem_channels = 3) {
  std::vector<Conv2DShape> shapes{square_convolution(dtype, batch, 224, stem_channels, 64, 7, 2)};
  const auto add = [&](int64_t in, int64_t from, int64_t to, int64_t kernel, int64_t stride) {
    shapes.push_back(square_convolution(dtype, batch, in, from, to, kernel, stride));
  };
  add(56, 64, 64, 1, 1);
  for (int64_t stage = 0; stage < 4; ++stage) {
    const int64_t width = 64 << stage, size = 56 >> stage;
    if (stage > 0) {
      add(2 * size, 2 * width, width, 1, 1);      // first 1 x 1 of the stage
      add(2 * size, width, width, 3, 2);          // its 3 x 3, with the stride (v1.5)
      add(2 * size, 2 * width, 4 * width, 1, 2);  // the shortcut
    }
    add(size, 4 * width, width, 1, 1);
    add(size, width, width, 3, 1);
    add(size, width, 4 * width, 1, 1);
  }
  return shapes;
}

}  // namespace distribute::testing
