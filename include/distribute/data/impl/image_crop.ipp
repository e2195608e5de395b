#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/image.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace distribute::image {

namespace image_internal {

DISTRIBUTE_INLINE ImageSize size_of_image(const char* op, const Tensor& image) {
  if (image.shape().rank() != 3)
    throw InvalidArgumentError(
        str_cat(op, ": expected [height, width, channels], got ", to_string(image.shape())));
  return {image.shape()[0], image.shape()[1]};
}

DISTRIBUTE_INLINE void check_within(const char* op, const ImageSize& size,
                                    const ImageWindow& window) {
  if (window.y >= 0 && window.x >= 0 && window.height > 0 && window.width > 0 &&
      window.height <= size.height - window.y && window.width <= size.width - window.x)
    return;
  throw InvalidArgumentError(str_cat(op, ": the window of ", window.height, " x ", window.width,
                                     " at (", window.y, ", ", window.x, ") does not lie within ",
                                     size.height, " x ", size.width, " pixels"));
}

/// The pixels of an image whose rows have `width` of them.
struct Canvas {
  char* pixels;
  int64_t width;
  char* at(int64_t y, int64_t x, int64_t bytes) const { return pixels + (y * width + x) * bytes; }
};

DISTRIBUTE_INLINE void copy_window(const Canvas& from, int64_t from_y, int64_t from_x,
                                   const Canvas& to, int64_t to_y, int64_t to_x,
                                   const ImageSize& size, int64_t bytes) {
  for (int64_t y = 0; y < size.height; ++y)
    std::memcpy(to.at(to_y + y, to_x, bytes), from.at(from_y + y, from_x, bytes),
                size_t(size.width * bytes));
}

DISTRIBUTE_INLINE Canvas canvas_of(const Tensor& image) {
  return {image.array().bytes(), image.shape()[1]};
}

DISTRIBUTE_INLINE int64_t pixel_bytes(const Tensor& image) {
  return image.shape()[2] * int64_t(size_of(image.dtype()));
}

DISTRIBUTE_INLINE Tensor blank(const Tensor& like, int64_t height, int64_t width) {
  Tensor result = Tensor::empty(Shape{height, width, like.shape()[2]}, like.dtype(), Device{});
  std::memset(result.array().bytes(), 0, size_t(height * width * pixel_bytes(like)));
  return result;
}

/// Gives height and width of one attempt; {0, 0} when it does not fit.
DISTRIBUTE_INLINE ImageSize attempt_size(const ImageSize& size, float aspect,
                                         const DistortedBoxOptions& options, data::Random& random) {
  const float area = float(size.height) * float(size.width);
  const float least = float(options.min_area) * area, most = float(options.max_area) * area;
  const auto width_of = [&](int64_t height) { return int64_t(std::lrint(float(height) * aspect)); };
  int64_t low = std::lrint(std::sqrt(least / aspect));
  int64_t high = std::min<int64_t>(std::lrint(std::sqrt(most / aspect)), size.height);
  while (high > 0 && width_of(high) > size.width) --high;
  low = std::min(low, high);
  int64_t height = low + (low < high ? random.below(high - low + 1) : 0);
  // Rounding may have left the range of areas by one row.
  if (float(height * width_of(height)) < least) ++height;
  if (float(height * width_of(height)) > most) --height;
  const int64_t width = width_of(height);
  const float got = float(height * width);
  const bool fits = got >= least && got <= most &&
                    got >= float(options.min_object_covered) * area && height > 0 && width > 0 &&
                    height <= size.height && width <= size.width;
  return fits ? ImageSize{height, width} : ImageSize{};
}

DISTRIBUTE_INLINE void check_distorted(const ImageSize& size, const DistortedBoxOptions& o) {
  if (size.height < 1 || size.width < 1)
    throw InvalidArgumentError(str_cat("sample_distorted_bounding_box: the picture has ",
                                       size.height, " x ", size.width, " pixels"));
  if (!(o.min_aspect_ratio > 0 && o.min_aspect_ratio <= o.max_aspect_ratio && o.min_area > 0 &&
        o.min_area <= o.max_area && o.max_area <= 1 && o.max_attempts >= 1))
    throw InvalidArgumentError(
        str_cat("sample_distorted_bounding_box: needs 0 < min <= max, areas up to 1 and an ",
                "attempt, got aspect ratios ", o.min_aspect_ratio, " to ", o.max_aspect_ratio,
                ", areas ", o.min_area, " to ", o.max_area, ", ", o.max_attempts, " attempts"));
}

}  // namespace image_internal

DISTRIBUTE_INLINE Tensor crop_to_bounding_box(const Tensor& image, const ImageWindow& window) {
  using namespace image_internal;
  check_within("crop_to_bounding_box", size_of_image("crop_to_bounding_box", image), window);
  const Tensor plain = image.row_major();
  const Tensor result = blank(image, window.height, window.width);
  copy_window(canvas_of(plain), window.y, window.x, canvas_of(result), 0, 0,
              {window.height, window.width}, pixel_bytes(image));
  return result;
}

DISTRIBUTE_INLINE ImageWindow central_window(const ImageSize& whole, const ImageSize& size) {
  const ImageWindow window{(whole.height - size.height) / 2, (whole.width - size.width) / 2,
                           size.height, size.width};
  image_internal::check_within("central_window", whole, window);
  return window;
}

DISTRIBUTE_INLINE Tensor pad_to_bounding_box(const Tensor& image, const ImageWindow& window) {
  using namespace image_internal;
  const ImageSize size = size_of_image("pad_to_bounding_box", image);
  check_within("pad_to_bounding_box", {window.height, window.width},
               {window.y, window.x, size.height, size.width});
  const Tensor plain = image.row_major();
  const Tensor result = blank(image, window.height, window.width);
  copy_window(canvas_of(plain), 0, 0, canvas_of(result), window.y, window.x, size,
              pixel_bytes(image));
  return result;
}

DISTRIBUTE_INLINE Tensor flip_left_right(const Tensor& image) {
  using namespace image_internal;
  const ImageSize size = size_of_image("flip_left_right", image);
  const Tensor plain = image.row_major();
  const Tensor result = blank(image, size.height, size.width);
  const Canvas from = canvas_of(plain), to = canvas_of(result);
  const int64_t bytes = pixel_bytes(image);
  for (int64_t y = 0; y < size.height; ++y)
    for (int64_t x = 0; x < size.width; ++x)
      std::memcpy(to.at(y, x, bytes), from.at(y, size.width - 1 - x, bytes), size_t(bytes));
  return result;
}

DISTRIBUTE_INLINE ImageWindow sample_distorted_bounding_box(const ImageSize& size,
                                                            const DistortedBoxOptions& options,
                                                            data::Random& random) {
  image_internal::check_distorted(size, options);
  for (int64_t attempt = 0; attempt < options.max_attempts; ++attempt) {
    const float aspect =
        random.uniform(float(options.min_aspect_ratio), float(options.max_aspect_ratio));
    const ImageSize box = image_internal::attempt_size(size, aspect, options, random);
    if (box.height == 0) continue;
    const int64_t y = random.below(size.height - box.height + 1);
    return {y, random.below(size.width - box.width + 1), box.height, box.width};
  }
  return {0, 0, size.height, size.width};
}

DISTRIBUTE_INLINE Tensor pad_and_random_crop(const Tensor& image, int64_t border,
                                             data::Random& random) {
  using namespace image_internal;
  const ImageSize size = size_of_image("pad_and_random_crop", image);
  if (border < 0)
    throw InvalidArgumentError(str_cat("pad_and_random_crop: the border is ", border));
  const int64_t down = random.below(2 * border + 1) - border;
  const int64_t right = random.below(2 * border + 1) - border;
  const int64_t y = std::max<int64_t>(down, 0), x = std::max<int64_t>(right, 0);
  const ImageSize common{size.height - std::abs(down), size.width - std::abs(right)};
  const Tensor plain = image.row_major();
  const Tensor result = blank(image, size.height, size.width);
  if (common.height > 0 && common.width > 0)
    copy_window(canvas_of(plain), y, x, canvas_of(result), y - down, x - right, common,
                pixel_bytes(image));
  return result;
}

}  // namespace distribute::image
