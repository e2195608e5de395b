#pragma once
/// How JPEG pictures are decoded, and parts of pictures in pixels.

#include <distribute/base/config.hpp>

#include <cstdint>

namespace distribute::data {

/// How the inverse cosine transform is computed. IntegerFast is what `dct_method=""` means in
/// TensorFlow; with it and fancy upscaling pixels equal tf.io.decode_jpeg's.
enum class DctMethod { IntegerFast, IntegerAccurate };

/// Options of decode_jpeg(). Source  tf.io.decode_jpeg
struct JpegOptions {
  int64_t channels = 3;  // 1: grey, 3: RGB, 0: as many as the file has
  int64_t ratio = 1;     // 1, 2, 4 or 8: decodes to 1/ratio of the size, rounded up
  DctMethod dct_method = DctMethod::IntegerFast;
  bool fancy_upscaling = true;
  bool try_recover_truncated = false;  // what is missing is grey then
  int64_t max_pixels = int64_t{1} << 27;
};

struct ImageSize {  // height, width and channels
  int64_t height = 0;
  int64_t width = 0;
  bool operator==(const ImageSize&) const = default;
};

/// A part of a picture, in pixels.
struct ImageWindow {
  int64_t y = 0;
  int64_t x = 0;
  int64_t height = 0;
  int64_t width = 0;
  bool operator==(const ImageWindow&) const = default;
};

}  // namespace distribute::data
